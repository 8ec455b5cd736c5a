package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/store"
)

// state is what the judge knows between two passes, and all that decides. It
// knows no store and no clock: what it needs is loaded before and passed in,
// and what follows from it is a value to write. It may be dropped at any time.
type state struct {
	config  Config
	ledger  *ledger
	minutes minutes
	hourly  *hourly
	views   *hourViews
	facts   *facts
	board   *detect.Board
	known   known
	draft   *draft
	// newest is the newest second that was closed.
	newest int64
	// takenUp are the findings that the board took up as they were stored, by
	// fingerprint, until they are over.
	takenUp map[string]detect.Finding
	// sightings are what the board said and what is not in the draft yet.
	sightings []sighting
	// lost are the newest gaps, the newest first.
	lost []store.Gap
	// cursors are the stored ones.
	cursors map[string]int64
	// seed is the installation's hash seed.
	seed uint64
	// forecasts are those of the findings' keys, and peaks what the next ones
	// are made of, by fingerprint.
	forecasts map[string]forecast
	peaks     map[string][]store.HourPeak
}

// sighting is what the board says of a finding at one moment: when newest was
// the newest second that was closed.
type sighting struct {
	finding detect.Finding
	newest  int64
}

func newState(c Config, seed uint64, cursors map[string]int64) *state {
	told := &facts{told: c.Facts}
	return &state{
		config: c, ledger: newLedger(cursors), minutes: make(minutes), hourly: newHourly(c.PeakDelay), views: newHourViews(),
		facts: told, board: detect.NewBoard(detect.Options{Policy: c.Policy, Facts: told.of}),
		known: make(known), draft: newDraft(), takenUp: make(map[string]detect.Finding), cursors: cursors, seed: seed,
		forecasts: make(map[string]forecast), peaks: make(map[string][]store.HourPeak),
	}
}

func (s *state) policy(table, index string) detect.Policy {
	if s.config.Policy == nil {
		return detect.DefaultPolicy()
	}
	return s.config.Policy(table, index)
}

// fold takes deltas into memory whose seconds and minutes are loaded.
func (s *state) fold(deltas []delta, now time.Time) {
	s.ledger.fold(deltas)
	s.minutes.fold(deltas, now)
	for i := range deltas {
		for _, r := range deltas[i].cardinality {
			s.views.count(r)
		}
	}
}

// closing are the seconds to write now: those that are over, and beyond the
// bound of memory the oldest of the others.
func (s *state) closing(h horizon) []instant {
	var closing []instant
	keys := s.ledger.keys
	for _, at := range s.ledger.oldest() {
		over, _ := h.isOver(at.second)
		if !over && keys <= s.config.MaxKeys {
			break
		}
		keys -= len(s.ledger.open[at].window.Keys)
		closing = append(closing, at)
	}
	return closing
}

const (
	// stride is how much event time passes between two looks at the findings:
	// less than a finding takes to resolve, so that a long reading does not step
	// over its beginning.
	stride = detect.ResolveSeconds / 2
	// maxSightings bounds the sightings of one look, some KB each: a long
	// reading is many strides.
	maxSightings = 4096
)

// observe shows the board everything that it has not seen, lets time pass, and
// notes what it says on the way. It returns the seconds that are left, for
// another call, when there is much to note; done reports that all was shown.
func (s *state) observe(closing []instant, h horizon, now time.Time) (left []instant, done bool) {
	for len(closing) > 0 {
		if len(s.sightings) >= maxSightings {
			return closing, false
		}
		// What lies close together is one step; a quiet stretch before it has
		// passed first.
		s.settle(closing[0].second-1, h, now)
		s.note()
		end := closing[0].second + stride
		for len(closing) > 0 && closing[0].second <= end {
			o := s.ledger.open[closing[0]]
			s.views.observe(closing[0], o, now)
			s.ledger.trim(o)
			s.board.Observe(&o.window)
			o.news = false
			s.hourly.observe(closing[0], o, now)
			s.newest = max(s.newest, closing[0].second)
			closing = closing[1:]
		}
		s.note()
	}
	for _, at := range s.ledger.oldest() {
		if o := s.ledger.open[at]; o.news {
			s.board.Observe(&o.window)
			o.news = false
		}
	}
	s.settle(math.MaxInt64, h, now)
	s.note()
	return nil, true
}

// settle lets event time pass up to a second, as far as the horizon allows.
// Where no watermark promises anything more it passes with the clock; without
// all watermarks, only with what was counted.
func (s *state) settle(second int64, h horizon, now time.Time) {
	if complete := min(second, h.complete-1, now.Unix()); complete > 0 {
		s.board.Settle(complete, true)
	}
	if over := min(second, h.over-1, s.newest); over > 0 && h.over > h.complete {
		s.board.Settle(over, false)
	}
}

// note keeps what the board says now.
func (s *state) note() {
	for _, f := range s.findings() {
		s.sightings = append(s.sightings, sighting{f, s.newest})
	}
}

// findings are the board's, and those of a judge before that were taken up and
// that the board has let go of: it does so when they are over.
func (s *state) findings() []detect.Finding {
	found := s.board.Findings()
	if len(s.takenUp) == 0 {
		return found
	}
	gone := maps.Clone(s.takenUp)
	for i := range found {
		delete(gone, found[i].Fingerprint)
	}
	for _, f := range gone {
		f.State = detect.Resolved
		found = append(found, f)
	}
	return found
}

// unknown are the fingerprints of sightings of which it is not known whether
// anything is stored, each once.
func (s *state) unknown() []string {
	var all []string
	asked := make(map[string]bool)
	for i := range s.sightings {
		fingerprint := s.sightings[i].finding.Fingerprint
		_, drafted := s.draft.after[fingerprint]
		_, known := s.known[fingerprint]
		if !drafted && !known && !asked[fingerprint] {
			asked[fingerprint] = true
			all = append(all, fingerprint)
		}
	}
	return all
}

// compare drafts what the sightings change of what is stored, or about to be.
// Everything that is unknown and unforeseen must be loaded.
func (s *state) compare(now time.Time) error {
	sightings := s.sightings
	s.sightings = nil
	defer clear(s.peaks)
	for i := range sightings {
		f := sightings[i].finding
		f.Gaps = gapsOf(&f, s.lost)
		f.Foresee(s.forecastOf(&f, sightings[i].newest), s.policy(f.Table, f.Index).Headroom)
		document, err := json.Marshal(f)
		if err != nil {
			return fmt.Errorf("write finding %s: %w", f.Fingerprint, err)
		}
		before, changed := s.draft.after[f.Fingerprint]
		if !changed {
			before = s.known[f.Fingerprint]
		}
		if !bytes.Equal(before.document, document) && !isOlder(f, before) {
			s.draft.put(row(f, document))
			s.draft.after[f.Fingerprint] = s.draft.compare(f, before, document, s.config, now)
		}
		if f.State == detect.Resolved {
			delete(s.takenUp, f.Fingerprint) // only now that what is stored of it is loaded
		}
	}
	return nil
}

// tables are the views that are due, for which the growing keys are to be
// loaded. The board learns from them what tables' keys look like.
func (s *state) tables(now time.Time) []detect.Table {
	if !s.views.due(now, s.config.PeakDelay) {
		return nil
	}
	tables := s.views.tables(s.policy)
	if s.views.settled() {
		for _, t := range tables {
			s.board.Look(t.Table, t.Index, t.View)
		}
	}
	return tables
}

// pending is what a pass has to write, and of what it is forgotten then.
type pending struct {
	store.Judgement
	closing, minutes []instant
	hours, views     bool
	horizon          horizon
}

// pending is everything that is to be written now.
func (s *state) pending(closing []instant, tables []detect.Table, h horizon, now time.Time) (p pending, err error) {
	p = pending{closing: closing, minutes: s.minutes.due(h, now), hours: s.hourly.due(now), views: s.views.due(now, s.config.PeakDelay), horizon: h}
	p.Cardinality = s.minutes.rows(p.minutes)
	for _, at := range closing {
		row, err := s.ledger.row(at, h)
		if err != nil {
			return p, err
		}
		p.Windows = append(p.Windows, row)
	}
	s.draft.addTo(&p.Judgement)
	waiting := s.minutes.unsaved(p.minutes)
	if p.hours {
		p.Peaks = s.hourly.rows()
	} else {
		holdBack(waiting, s.hourly.unsaved)
	}
	if p.Views, err = s.views.rows(tables); err != nil {
		return p, err
	}
	p.Cursors = s.ledger.cursors(closing, waiting)
	maps.DeleteFunc(p.Cursors, func(writer string, seq int64) bool { return seq <= s.cursors[writer] })
	return p, nil
}

// written forgets what is stored now.
func (s *state) written(p pending) {
	s.ledger.closed(p.closing)
	s.minutes.written(p.minutes, p.horizon)
	if p.hours {
		s.hourly.written()
	}
	if p.views {
		s.views.dirty, s.views.written = time.Time{}, true
	}
	s.known.apply(s.draft)
	s.draft = newDraft()
	maps.Copy(s.cursors, p.Cursors)
}

// holdBack lowers the sequence numbers that cursors wait for.
func holdBack(waiting, unsaved map[string]int64) {
	for writer, seq := range unsaved {
		waiting[writer] = min(cmp.Or(waiting[writer], seq), seq)
	}
}

func isEmpty(j store.Judgement) bool {
	return len(j.Windows)+len(j.Cardinality)+len(j.Peaks)+len(j.Views)+len(j.Findings)+len(j.Transitions)+len(j.Notifications)+len(j.Cursors) == 0
}
