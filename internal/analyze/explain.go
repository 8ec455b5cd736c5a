package analyze

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/recipe"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/internal/analyze/intake"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
	"github.com/keyheat/keyheat/sketch"
)

// keySeconds are the seconds of one key in one table or index, in order.
type keySeconds struct {
	target  detect.Target
	key     sample.Key
	seconds []whatif.Second
	// write and read are its load in these seconds together.
	write, read sampling.Total
}

// find returns the seconds of a key by its text, in every table and index.
func (s *sketches) find(key detect.Text) []keySeconds {
	type id struct {
		target  detect.Target
		keyType string
	}
	byID := map[id]*keySeconds{}
	for w := range s.windows.All() {
		for i := range w.Keys {
			k := &w.Keys[i]
			if detect.Text(k.Key.Text) != key {
				continue
			}
			of := byID[id{w.Target, k.Key.Type}]
			if of == nil {
				of = &keySeconds{target: w.Target, key: k.Key}
				byID[id{w.Target, k.Key.Type}] = of
			}
			of.write.Add(totalled(k.Low.Write, k.Err.Write, k.WriteSpread, &k.Draws))
			of.read.Add(totalled(k.Low.Read, k.Err.Read, k.ReadSpread, &k.Draws))
			of.seconds = append(of.seconds, whatif.Second{At: w.Second, Low: k.Low, Err: k.Err, Requests: k.Requests})
		}
	}
	var all []keySeconds
	for _, of := range byID {
		all = append(all, *of)
	}
	slices.SortFunc(all, func(a, b keySeconds) int {
		return cmp.Or(compareTargets(a.target, b.target), cmp.Compare(a.key.Type, b.key.Type))
	})
	return all
}

// totalled returns what is known of a key's load in a second.
func totalled(low, missing sample.Milli, s sketch.Spread, d *sketch.Draws) (sampling.Amounts, sampling.Second) {
	return sampling.NewAmounts(low, missing, s), sampling.Second{Estimate: sampling.Estimate{Units: detect.Units(low), Spread: s}, Assumed: d.Assumed > 0}
}

func compareTargets(a, b detect.Target) int {
	return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Index, b.Index), a.Compare(b))
}

// explanation is everything that is known of one key, or pattern of keys.
type explanation struct {
	key         string
	found       []detect.Finding
	seconds     []keySeconds
	tables      map[detect.Target]detect.Table
	whole       []wholeTable // the tables and indexes that the text names
	suggestions []detect.Text
	samplesRead string
	samples     intake.Reading
	ofMany      []*detect.Finding // those that are about more than one key, but for information
	code        []recipe.Language
	facts       func(detect.Target) *detect.TableFacts
	policy      func(detect.Target) detect.Policy
	roots       map[string]*detect.Finding // what incidents are about, by their IDs
	verbose     bool
}

// maxSuggestions is how many other keys are named when the key is not in the
// samples.
const maxSuggestions = 10

// explain gathers what is known of a key.
func (f *fold) explain(key string, r *Result, o Options) *explanation {
	e := &explanation{verbose: o.Verbose, code: o.Code, facts: o.Facts, policy: o.board().Policy, key: key, seconds: f.find(detect.Text(key)), tables: map[detect.Target]detect.Table{}, whole: r.wholeTables(key), samplesRead: r.samplesRead(), samples: r.Samples, roots: rootsByIncident(r.Findings)}
	for i := range r.Findings {
		found := &r.Findings[i]
		if !found.Kind.OfKey() && found.Severity != detect.Info {
			e.ofMany = append(e.ofMany, found)
		}
		if found.Key == detect.Text(key) || isWhole(found, key) || found.Sharding != nil && !found.Kind.OfKey() && found.Sharding.Base == detect.Text(key) {
			e.found = append(e.found, *found)
		} else if found.Key != "" && len(e.suggestions) < maxSuggestions && !slices.Contains(e.suggestions, found.Key) {
			e.suggestions = append(e.suggestions, found.Key)
		}
	}
	for i := range r.Tables {
		t := &r.Tables[i]
		e.tables[t.Target] = *t
	}
	return e
}

// isWhole reports whether a finding is about a table or index as a whole, and the text
// names that: as the table of findings does, or by its name.
func isWhole(f *detect.Finding, text string) bool {
	return f.Key == "" && slices.Contains([]string{subject(f), f.Table, f.Name()}, text)
}

// write writes the explanation for a person.
func (e *explanation) write(out io.Writer) error {
	p := &page{}
	if len(e.found) == 0 && len(e.seconds) == 0 && len(e.whole) == 0 {
		p.paragraph(0, "", notInSamples(e.key))
		if len(e.suggestions) > 0 {
			p.line("Keys with findings:")
			for _, key := range e.suggestions {
				p.line("  %s", printable(key))
			}
		}
		p.WriteString(e.samplesRead)
	}
	explained := map[detect.Target]bool{}
	for i := range e.found {
		f := &e.found[i]
		if i > 0 {
			p.rule()
		}
		e.finding(p, f)
		explained[f.Target] = true
	}
	for _, s := range e.seconds {
		if !explained[s.target] {
			e.withoutFinding(p, s)
		}
	}
	for i := range e.whole {
		if p.Len() > 0 {
			p.rule()
		}
		e.whole[i].write(p)
	}
	for _, l := range e.code {
		e.recipe(p, l)
	}
	_, err := io.WriteString(out, p.String())
	return err
}

// recipe writes the code of the key's shards, of the first finding that has some.
func (e *explanation) recipe(p *page, l recipe.Language) {
	for i := range e.found {
		f := &e.found[i]
		text, known := recipe.Code(f, attributes(f, e.facts), l)
		if known {
			p.rule()
			p.WriteString("\n" + text)
			return
		}
	}
	p.line("\nThere is no code in %s: no step makes shards with names of text, or the key is hidden.", l)
}

// attributes returns the names of the key's attributes, as far as they are known.
func attributes(f *detect.Finding, facts func(detect.Target) *detect.TableFacts) (a recipe.Attributes) {
	if facts == nil {
		return a
	}
	known := facts(f.Target)
	if known == nil {
		return a
	}
	if f.Index == "" {
		return recipe.AttributesOf(known.KeySchema)
	}
	a = recipe.AttributesOf(known.Indexes[f.Index].KeySchema)
	a.Table = slices.Concat(known.KeySchema.PartitionKey, known.KeySchema.SortKey)
	return a
}

func notInSamples[T ~string](key T) string {
	return fmt.Sprintf("%s is not in the samples, or its load was too low to be kept.", printable(key))
}

// finding writes a page about one finding: its answers, its load and the steps. With
// verbose it also writes the evidence and the arithmetic.
func (e *explanation) finding(p *page, f *detect.Finding) {
	p.line("%s in %s", subject(f), target(f.Target))
	p.line("  %s, %s (%s)", strings.ToUpper(string(f.Severity)), f.State, f.Kind)
	p.line("")
	brief := say.New(f)
	for _, l := range brief.Lines() {
		name := strings.TrimSuffix(l.Name, " by itself?")
		p.paragraph(9, fmt.Sprintf("  %-7s", name), l.Text)
	}
	root := e.explains(f)
	if root != nil {
		p.paragraph(9, "  Part of", fmt.Sprintf("%s, whose steps come first.", say.Title(root)))
	}
	m := measureOf(f)
	e.chart(p, f, m)
	if !e.verbose {
		shortSteps(p, f)
		p.line("\nMore: --verbose has the evidence, the bounds and the steps in full.")
		return
	}
	p.heading("Load")
	figures(p, f, m)
	e.steps(p, f, root)
	p.heading("Evidence")
	for _, l := range say.Details(f) {
		p.fact(l.Name, "%s", l.Text)
	}
	requests(p, f)
	e.confidence(p, f, m)
}

// explains returns the finding whose incident a finding is part of, if that one is about
// another key; nil for none.
func (e *explanation) explains(f *detect.Finding) *detect.Finding {
	root := e.roots[f.Incident]
	if root == nil || root.Fingerprint == f.Fingerprint || root.Key == f.Key || len(root.Advice) == 0 {
		return nil
	}
	return root
}

// shortSteps writes each step in a line: what to do, its effort and the load that it
// leaves.
func shortSteps(p *page, f *detect.Finding) {
	p.heading("Steps")
	n := 0
	for i := range f.Advice {
		s := &f.Advice[i]
		if s.Action == detect.ActionMigrate {
			continue
		}
		n++
		text := fmt.Sprintf("%s (%s)", say.Imperative(f, s), say.Takes(s))
		if s.After != nil {
			text += ": leaves " + say.Leaves(s)
		}
		p.paragraph(5, fmt.Sprintf("  %d. ", n), text+".")
	}
	if sections := guides(f.Advice); sections != "" {
		p.paragraph(2, "  ", "Each step in docs/KEY_DESIGN.md: "+sections+".")
	}
}

// steps writes each step with its facts, after the step of the finding that explains this one.
func (e *explanation) steps(p *page, f, root *detect.Finding) {
	heading, steps := "What to do, in order", f.Advice
	if root != nil {
		p.heading("What it is a part of")
		p.paragraph(2, "  ", fmt.Sprintf("%s of %s explains it. %s", root.Kind, subject(root), say.New(root).Why))
		if root.Kind != detect.MovingHotSpot { // the key's own advice is already the hot spot's
			first := &root.Advice[0]
			p.paragraph(2, "  ", "Do this first: "+say.Imperative(root, first)+". "+say.StepWhy(root, first))
			heading = "What can be done for this key alone"
			if f.Key == "" {
				heading = "What can be done for the table or index itself"
			}
			steps = slices.DeleteFunc(slices.Clone(steps), func(s detect.Step) bool {
				return s.Fix == first.Fix || s.Action == detect.ActionRename && first.Action == detect.ActionRename
			})
		}
	}
	p.heading(heading)
	for i := range steps {
		s := &steps[i]
		p.paragraph(5, fmt.Sprintf("  %d. ", i+1), say.Imperative(f, s)+". "+say.StepWhy(f, s))
		if s.Action == detect.ActionMigrate {
			continue // its effort and load are the shards' own
		}
		for _, l := range say.StepFacts(f, s) {
			p.paragraph(13, fmt.Sprintf("     %-8s", l.Label()), l.Text)
		}
	}
	if sections := guides(steps); sections != "" {
		p.paragraph(2, "  ", "More in docs/KEY_DESIGN.md: "+sections+".")
	}
}

// figures writes how large a finding's load is.
func figures(p *page, f *detect.Finding, m measure) {
	against := ""
	switch {
	case f.Sharding != nil && !f.Kind.OfKey():
		against = fmt.Sprintf(", of %d shards together; the fullest has up to %s %s in a second, %s of the %s that its partition serves", f.Sharding.Shards, wording.About(f.Utilization*m.limit), m.unit, wording.Percent(f.Utilization), wording.About(m.limit))
	case !f.Kind.OfTable():
		against = fmt.Sprintf(": %s the %s %s that one partition serves", wording.Times(m.peak.Value/m.limit), wording.About(m.limit), m.unit)
	}
	at, of, in := "at "+f.Peak.At.Format("2006-01-02 15:04:05 MST"), "", "the seconds in which it was seen"
	switch {
	case f.Kind == detect.LowCardinalityKey:
		of, in = " of the hottest value", "all its seconds"
	case f.Kind == detect.RollingHotKey:
		of = " of the hottest of the keys"
	case f.Kind.OfTable():
		of = " of " + target(f.Target) + " as a whole"
	}
	if f.Kind.OfKey() && !f.Quality.IsSampled() && m.mean.Value > 0 {
		in = "these seconds" // a sampled key's mean also covers seconds without a sample
	}
	if f.Quality.InBatches() {
		at, in = "as a mean over the times between batches", "the time of the batches"
	}
	mean := func() {
		if m.mean.Value > 0 {
			p.fact("mean", "%s %s%s over %s%s", wording.Figure(m.mean), m.unit, of, meanOver(f), meanAgainst(f, m))
		}
	}
	if f.OnlyMean() {
		mean()
		p.fact("peak", "cannot be known to the second from these samples: the highest second had between %s and %s %s", wording.AtLeast(m.peak.Low), wording.AtMost(m.peak.High), m.unit)
	} else {
		p.fact("peak", "%s %s%s %s%s", wording.Figure(m.peak), m.unit, of, at, against)
		mean()
	}
	if m.other.Value >= 1 {
		p.fact("also", "up to %s %s in one second", wording.Figure(m.other), m.otherUnit)
	}
	if over := wording.Over(f); over != "" {
		p.fact("over", "%s", over)
	}
	if f.State == detect.Resolved {
		p.fact("resolved", "near or above the limit until %s", f.LastSeen.UTC().Format("2006-01-02 15:04:05 MST"))
	}
	if !f.Kind.OfTable() && f.Share > 0 {
		who, all := "", "load"
		switch f.Kind {
		case detect.LowCardinalityKey:
			who = "the hottest value has "
		case detect.MovingHotSpot:
			who, in = "the hottest of the keys had ", "the seconds in which that was seen"
		}
		if f.Kind.OfKey() {
			all = detect.Side(f.Kind, "writes", "reads")
		}
		p.fact("share", "%s%s of the %s of %s in %s", who, wording.Percent(f.Share), all, target(f.Target), in)
	}
	if lost := max(f.Peak.WCU.Value-f.Consumed.WCU, f.Peak.RCU.Value-f.Consumed.RCU); lost >= 1 && f.Consumed.WCU+f.Consumed.RCU > 0 {
		p.fact("throttled", "up to %s units in the second of the peak", wording.About(lost))
	}
	if share, failed := f.FailedShare(); failed {
		p.fact("failed", "%s of the requests in the last %s failed for good, after all their attempts", wording.Percent(share), wording.Seconds(f.Evidence.Retries.Seconds))
	}
}

// meanOver names the seconds that a mean is of. Those of a key go on to the last one judged; an
// exact one has only seconds in which it had requests, from its first hot one on, and those of a
// sampled one begin before it is known to be hot.
func meanOver(f *detect.Finding) string {
	n := wording.Seconds(int(f.Seconds))
	all := int64(f.Through.Sub(f.FirstSeen)/time.Second) + 1
	switch to := clock(f.Through.Unix()); {
	case !f.Kind.OfKey() || f.Quality.InBatches() || all < 1:
		return n
	case f.Quality.IsSampled() || f.Seconds > all:
		return fmt.Sprintf("the %s to %s", n, to)
	case f.Seconds < all:
		return fmt.Sprintf("the %s with requests of it, of those from %s to %s", n, clock(f.FirstSeen.Unix()), to)
	default:
		return fmt.Sprintf("the %s from %s to %s", n, clock(f.FirstSeen.Unix()), to)
	}
}

// meanAgainst holds the mean of a sampled key to the limit: where it is all that samples tell,
// the incident's title has it. Empty of others.
func meanAgainst(f *detect.Finding, m measure) string {
	switch times := wording.Times(m.mean.Value / m.limit); {
	case f.OnlyMean():
		return fmt.Sprintf(": %s the %s %s that one partition serves", times, wording.About(m.limit), m.unit)
	case f.Kind.OfKey() && f.Quality.IsSampled():
		return fmt.Sprintf(": %s the limit", times)
	}
	return ""
}

// guides lists the sections that steps name, each once.
func guides(steps []detect.Step) string {
	var all []string
	for _, s := range steps {
		if name := "#" + s.Guide; s.Guide != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return strings.Join(all, ", ")
}

// measure is the unit in which a finding is nearer to a limit, and its figures.
type measure struct {
	reads           bool
	unit, otherUnit string
	limit           float64 // of one partition
	peak, mean      detect.Figure
	other           detect.Figure // the peak in the other unit
}

// of returns the load in the measure's unit.
func (m *measure) of(l sketch.Load) float64 {
	if m.reads {
		return detect.Units(l.Read)
	}
	return detect.Units(l.Write)
}

func measureOf(f *detect.Finding) measure {
	write, read := detect.Units(detect.PartitionWrite), detect.Units(detect.PartitionRead)
	if f.InReads() {
		return measure{true, "RCU", "WCU", read, f.Peak.RCU, f.Mean.RCU, f.Peak.WCU}
	}
	return measure{false, "WCU", "RCU", write, f.Peak.WCU, f.Mean.WCU, f.Peak.RCU}
}

// confidence writes how far the figures can be trusted.
func (e *explanation) confidence(p *page, f *detect.Finding, m measure) {
	p.heading("Confidence")
	low, high := wording.AtLeast(m.peak.Low), wording.AtMost(m.peak.High)
	sampled := f.Quality.IsSampled()
	switch {
	case f.Quality.Sampling == detect.SamplingUnknowable:
		p.paragraph(2, "  ", "The peak is an estimate, and how requests were sampled is not known: that it is over the limit cannot be proven from such samples.")
	case f.Quality.Estimated != nil && *f.Quality.Estimated && m.peak.Low == m.peak.High && !sampled:
		p.paragraph(2, "  ", e.samples.OfPeak())
	case m.peak.Low == m.peak.High && !sampled:
		p.paragraph(2, "  ", e.counted(f, m))
	case m.peak.Low == m.peak.Value && !sampled:
		p.paragraph(2, "  ", fmt.Sprintf("The peak is at least %s for certain, and at most %s: the difference may belong to other keys that were counted together with it.", low, high))
	case f.OnlyMean():
		p.paragraph(2, "  ", fmt.Sprintf("Not every request was sampled: the mean holds within its bounds with 95%% confidence, and no single second is proven to have more than the mean may be, %s %s. Where a step needs the highest second, it takes an estimate of it, %s %s. The severity is decided by a bound that holds with 99.9999%%.", wording.AtMost(m.mean.High), m.unit, wording.About(m.peak.Value), m.unit))
	default:
		p.paragraph(2, "  ", fmt.Sprintf("The peak is an estimate, because not every request was sampled: with 95%% confidence it is between %s and %s. The severity is decided by a bound that holds with 99.9999%%.", low, high))
	}
	t := e.tables[f.Target]
	if sampled || m.peak.Low != m.peak.Value {
		provable := detect.Side(f.Kind, t.Provable.WCU, t.Provable.RCU)
		p.paragraph(2, "  ", fmt.Sprintf("At this sampling rate a single second is proven above the limit from %s units on. A lower load is proven by its mean of %d or %d seconds, or stays possible.",
			wording.About(provable), detect.MeanShort, detect.MeanLongest))
	}
	if u := t.Unseen; u.WCU > 0 || u.RCU > 0 {
		p.paragraph(2, "  ", fmt.Sprintf("A key that is not listed had at most %s WCU and %s RCU in one second.", wording.AtMost(u.WCU), wording.AtMost(u.RCU)))
	}
	for i := range f.Quality.Gaps {
		p.paragraph(2, "  ", notCounted(&f.Quality.Gaps[i]))
	}
}

// counted returns how exact a peak is where no sample states a rate below 1. That every
// request has a sample is what its producer knows: nothing here proves it.
func (e *explanation) counted(f *detect.Finding, m measure) string {
	switch highest := e.highest(f, m); {
	case slices.Contains(f.Quality.CannotSee, detect.BlindSeconds):
		return "Every sample was counted, and none states a rate below 1, but their times do not prove in which second each was: the peak is a mean over the times between batches."
	case f.Replication != nil && f.Replication.WCU > 0:
		return "The peak includes writes of other Regions, as far as their requests are sampled: it may be higher."
	case highest >= m.peak.High+1:
		return fmt.Sprintf("Every sample was counted, and none states a rate below 1. The samples have up to %s %s with times in one second, of which many have one and the same time, as where a producer writes them in one batch: of these the peak has only the mean over the times between batches.", wording.About(highest), m.unit)
	}
	return "The peak is exact if every request was sampled: no sample states a rate below 1, and every sample of the key was counted."
}

// highest returns the most units that samples have in one second of a finding's episode.
func (e *explanation) highest(f *detect.Finding, m measure) (highest float64) {
	for _, s := range e.seconds {
		if s.target != f.Target || detect.Text(s.key.Text) != f.Key {
			continue
		}
		for _, at := range s.seconds {
			if at.At >= f.FirstSeen.Unix() && at.At <= f.LastSeen.Unix() {
				highest = max(highest, m.of(at.Low))
			}
		}
	}
	return highest
}

// requests writes what the requests were like.
func requests(p *page, f *detect.Finding) {
	e := f.Evidence
	if e == nil || e.Records == 0 {
		return
	}
	from, hottest := wording.Hottest(e.Seconds), "the hottest second"
	if f.Quality.InBatches() {
		from, hottest = "the largest batches", "one batch"
	}
	of := ""
	if f.Kind == detect.MovingHotSpot {
		of = " of the hottest key" // whose evidence stands for what all of them are like
	}
	p.heading("Requests" + of)
	if f.Kind.OfTable() { // of all seconds in which it throttled
		p.fact("seen", "%s in %s", wording.Count(e.Records), wording.Seconds(e.Seconds))
	} else {
		p.fact("looked at", "a uniform sample of %s, worth %s records of equal weight", from, wording.Count(e.Records))
	}
	var ops []string
	for _, o := range e.Operations {
		ops = append(ops, o.Op+" "+wording.Part(o.Share))
	}
	if len(ops) > 0 {
		p.fact("operations", "%s of the load", strings.Join(ops, ", "))
	}
	if s := e.SortKeys; s != nil {
		order := ""
		if e.Split != nil && e.Split.Direction != "" {
			order = ", " + e.Split.Direction
		}
		p.fact("sort keys", "at least %s in %s%s", wording.About(s.Distinct), hottest, order)
	}
	shares(p, "items", "", e.Items)
	shares(p, "callers", "caller", e.Callers)
	attempts(p, e.Retries)
	if e.ItemBytes > 0 {
		p.fact("size", "%s on average, of an item or of what a query reads", wording.Size(e.ItemBytes))
	}
	if e.ChangedShare != nil {
		p.fact("changes", "a write changes %.1f%% of an item's bytes", 100**e.ChangedShare)
		shares(p, "attributes", "", e.Attributes)
	}
	for _, cause := range []sample.ThrottleReason{sample.KeyRange, sample.Provisioned, sample.MaxOnDemand, sample.AccountLimit, sample.ThrottleUnknown} {
		if n := e.Refused[cause.String()]; n > 0 {
			p.fact("throttled", "at least %s attempts, reason %s", wording.Count(n), cause)
		}
	}
}

// attempts writes how requests were sent, and by whom again.
func attempts(p *page, r *detect.Retries) {
	if r == nil {
		return
	}
	// The first calls of a second are not counted, before the key has a tenth of a limit.
	amount := "at least "
	if r.Estimated && !r.Partial {
		amount = "about "
	}
	p.fact("attempts", "%s%s for %s%s requests in %s, %.1f each", amount, wording.About(r.Attempts), amount, wording.About(r.Calls), wording.Seconds(r.Seconds), r.Amplification)
	var words []string
	for _, c := range r.Callers[:min(3, len(r.Callers))] {
		if c.Refused >= 1 {
			words = append(words, fmt.Sprintf("%s with %s of the attempts, %.1f a request, waited %s s, %s failed", printable(c.Caller), wording.Percent(c.Share), c.Amplification, wording.About(c.Waited), wording.About(c.Failed)))
		}
	}
	if len(words) > 0 {
		p.fact("sent again", "%s", strings.Join(words, "; "))
	}
}

// shares writes the largest parts, where anything is known of them that matters; see
// [wording.Shares].
func shares(p *page, name, one string, parts []detect.Part) {
	if words := wording.Shares(one, parts); words != "" {
		p.fact(name, "%s", words)
	}
}

// withoutFinding writes a page about a key without a finding.
func (e *explanation) withoutFinding(p *page, s keySeconds) {
	var writes, reads whatif.Second
	for _, second := range s.seconds {
		if second.Low.Write >= writes.Low.Write {
			writes = second
		}
		if second.Low.Read >= reads.Low.Read {
			reads = second
		}
	}
	write, read := writes.Low.Plus(writes.Err).Write, reads.Low.Plus(reads.Err).Read
	p.line("%s in %s", printable(s.key.Text), target(s.target))
	p.paragraph(2, "  ", noFinding(s.key.Text, write, read, e.policy(s.target)))
	for _, of := range e.ofMany {
		if words := concerns(of, s); words != "" {
			p.paragraph(2, "  ", words)
		}
	}
	p.heading("Load")
	samples := ""
	if e.isSampled(s.target) {
		samples = ", as they estimate it"
		p.paragraph(2, "  ", "Not every request was sampled: of one second they may show far more than there was, or less.")
	}
	p.fact("writes", "up to %s WCU in one second by the times of its samples%s; a partition serves %s", wording.About(detect.Units(write)), samples, wording.Amount(detect.PartitionWrite))
	if read > 0 {
		p.fact("reads", "up to %s RCU in one second by the times of its samples%s; a partition serves %s", wording.About(detect.Units(read)), samples, wording.Amount(detect.PartitionRead))
	}
	e.means(p, s)
	p.fact("seen", "in %s, from %s to %s", wording.Seconds(len(s.seconds)), clock(s.seconds[0].At), clock(s.seconds[len(s.seconds)-1].At))
}

// isSampled reports whether not every request of a table or index was sampled.
func (e *explanation) isSampled(of detect.Target) bool {
	t := e.tables[of]
	return t.Provable.WCU > 0 || t.Provable.RCU > 0
}

// means writes what a key had on average of all seconds of its table or index.
func (e *explanation) means(p *page, s keySeconds) {
	all := e.tables[s.target].Seconds
	if all < int64(len(s.seconds)) {
		return
	}
	var means []string
	for _, of := range []struct {
		total sampling.Total
		unit  string
	}{{s.write, "WCU"}, {s.read, "RCU"}} {
		of.total.Pass(all - int64(len(s.seconds)))
		if of.total.Value() > 0 {
			means = append(means, wording.Figure(of.total.Mean(0))+" "+of.unit)
		}
	}
	if len(means) > 0 {
		of := "in which " + target(s.target) + " had load"
		if e.isSampled(s.target) {
			of = "of which there are samples of " + target(s.target)
		}
		p.fact("mean", "%s a second, over the %s %s", wording.List(means), wording.Seconds(int(all)), of)
	}
}

// concerns says what a finding about more than one key has to do with a key that has none of
// its own; empty where it has nothing to do with it.
func concerns(of *detect.Finding, s keySeconds) string {
	at := target(s.target)
	switch {
	case of.Target != s.target:
		return ""
	case of.Kind == detect.HotPartition:
		return fmt.Sprintf("Requests of it may be refused nevertheless: at least one partition throttles without a key that is hot by itself, see --explain %s.", at)
	case of.Key == "":
		return fmt.Sprintf("But there is a finding (%s, %s) about %s as a whole, see --explain %s.", of.Kind, of.Severity, at, at)
	case of.Sharding != nil:
		if shard, is := shardkey.Parse(s.key.Text); is && detect.Text(shard.Base) == of.Sharding.Base {
			return fmt.Sprintf("It is one of the %d shards of %s, of which there is a finding (%s, %s), see --explain %s.", of.Sharding.Shards, wording.Quote(shard.Base), of.Kind, of.Severity, printable(shard.Base))
		}
	}
	return ""
}

// notClose is the share of what one partition serves up to which a load is called not close to
// it; above, the figure is said.
const notClose = 0.5

// noFinding returns why there is none, given a key's highest seconds and the policy of its
// table: with few samples a key may look hot without being so.
func noFinding(key string, write, read sample.Milli, p detect.Policy) string {
	highest := max(detect.Ratio(detect.Units(write), detect.Units(detect.PartitionWrite)), detect.Ratio(detect.Units(read), detect.Units(detect.PartitionRead)))
	switch {
	case p.Excludes(key):
		return "No finding: the policy excludes the key."
	case highest > p.Warning:
		return "No finding: the load may have been close to what one partition serves, but nothing proves it."
	case highest > notClose:
		return fmt.Sprintf("No finding: a second has up to %s of what one partition serves, and a warning is of more than %s.", wording.Percent(highest), wording.Percent(p.Warning))
	}
	return "No finding: the load is not close to what one partition serves."
}

func clock(second int64) string { return time.Unix(second, 0).UTC().Format("15:04:05") }

// chart draws the key's load second by second, its highest one for each column,
// against the limit.
func (e *explanation) chart(p *page, f *detect.Finding, m measure) {
	for _, s := range e.seconds {
		if s.target != f.Target || detect.Text(s.key.Text) != f.Key {
			continue
		}
		from, to := s.seconds[0].At, s.seconds[len(s.seconds)-1].At+1
		each := (to - from + chartWidth - 1) / chartWidth
		loads := make([]float64, (to-from+each-1)/each)
		highest := m.limit
		for _, at := range s.seconds {
			load := m.of(at.Low)
			i := (at.At - from) / each
			loads[i] = max(loads[i], load)
			highest = max(highest, load)
		}
		if slices.Max(loads) == 0 {
			return // all of it is of other Regions
		}
		draw(p, loads, highest, m.limit)
		axis := fmt.Sprintf("%-*s %s", max(1, len(loads)-9), clock(from), clock(to-1))
		p.line("          %s", axis)
		if f.Replication != nil && f.Replication.WCU > 0 {
			p.line("          only what this Region's own requests have; other Regions write more")
		}
		if f.Quality.InBatches() {
			p.line("          as the requests are timed: a column may be the load of a longer time")
		}
		if f.Quality.IsSampled() {
			p.line("          as the samples estimate each second")
		}
		p.line("          each column shows the highest of %s; ┄ is the limit, %s %s", wording.Seconds(int(each)), wording.About(m.limit), m.unit)
		return
	}
}
