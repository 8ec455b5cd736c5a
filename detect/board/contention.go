package board

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/internal/contention"
	"github.com/keyheat/keyheat/sample/keyhash"
)

// contentionFindings returns the findings about items whose requests take attempts from each other.
func (b *Board) contentionFindings() (all []detect.Finding) {
	for _, e := range b.contention.Episodes() {
		policy := b.options.Policy(e.Target)
		if policy.Excludes(e.Key.Text) {
			continue
		}
		f := casebook.NewFinding(casebook.Contention, e.Target, e.Key)
		f.Severity, f.Shards = policy.Cap(e.Severity), 1
		f.FirstSeen, f.LastSeen, f.Through, f.Seconds = detect.TimeOf(e.First), detect.TimeOf(e.Last), detect.TimeOf(e.Through), e.Seconds
		f.Peak.At = f.LastSeen
		if before, known := b.related[f.Fingerprint]; known && before.State != detect.Resolved && before.FirstSeen.Before(f.FirstSeen) {
			f.FirstSeen = before.FirstSeen // it began before a restart
		}
		time := b.timeline
		time.Settled -= b.late[e.Target]
		switch {
		case time.IsQuietSince(e.Last):
			f.State = detect.Resolved
		case f.Severity != detect.Info:
			f.State = detect.Firing
		}
		figures := e.Figures
		figures.Shape = contention.ShapeOf(&figures, e.Key.Text)
		f.Contention, f.Advice = &figures, contention.Steps(&figures)
		if f.Quality.Sampling = detect.SamplingNone; e.Sampled {
			f.Quality.Sampling, f.Quality.Rate = detect.SamplingByCall, &e.Rate
		}
		f.Quality.KeysHidden = keyhash.Find(e.Key.Text) >= 0
		all = append(all, f)
	}
	return all
}
