package casebook_test

import (
	"slices"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/sample"
)

// verdict is the part of an answer that a story is about.
type verdict struct {
	cause   detect.Case
	act     casebook.Act
	outlook casebook.Outlook
	ground  detect.Ground
	then    string // the action of the lasting fix
}

// tell changes a finding: a critical key at 1,680 WCU/s, 1,000 of them served, with random
// sort keys and the verdict that a split helps, 30 seconds old.
type tell func(f *detect.Finding)

func hot() *detect.Finding {
	f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "orders"}, sample.KeyString("k"))
	f.Severity, f.State, f.Ground = detect.Critical, detect.Firing, detect.GroundSplit
	f.FirstSeen = time.Date(2026, 11, 24, 16, 55, 49, 0, time.UTC)
	f.LastSeen = f.FirstSeen.Add(30 * time.Second)
	f.Peak.WCU, f.Consumed.WCU = detect.Figure{Value: 1680, Low: 1680, High: 1680}, 1000
	f.Throttling = &detect.Throttling{From: f.FirstSeen, To: f.LastSeen, Units: 20_400, Share: 0.4}
	f.Utilization, f.OverSeconds, f.Shards = 1.68, new(20), 3
	f.Evidence = &detect.Evidence{Records: 400, Seconds: 16, SortKeys: &detect.SortKeys{Distinct: 90}}
	f.Advice = []detect.Step{
		{Action: detect.ActionWait, Effort: detect.EffortNone},
		{Action: detect.ActionShard, Effort: detect.EffortKeys},
		{Action: detect.ActionMigrate, Effort: detect.EffortKeys},
	}
	return &f
}

func subject(s detect.Subject) tell { return func(f *detect.Finding) { f.Subject = s } }

func indexed(f *detect.Finding) { f.Index = "by-status" }

func is(c detect.Case) tell {
	return func(f *detect.Finding) { f.Case, f.Subject = c, casebook.SubjectOf(c) }
}

func ground(g detect.Ground) tell {
	return func(f *detect.Finding) { f.Ground = g }
}

// shuffles is a job that writes keys in their order.
func shuffles(f *detect.Finding) { f.Advice = []detect.Step{detect.NewStep(detect.FixShuffleInput)} }

// bounds is a job that a lower rate mends, before the shards of its key.
func bounds(f *detect.Finding) {
	f.Advice = append([]detect.Step{detect.NewStep(detect.FixBoundedRate)}, f.Advice...)
}

func keys(f *detect.Finding) { f.Ground = detect.GroundKeys }

// starved is a table or index with too little capacity.
func starved(f *detect.Finding) {
	f.Subject = detect.SubjectTable
}

func unharmed(f *detect.Finding) { f.Throttling = nil }

func warning(f *detect.Finding) {
	unharmed(f)
	f.Severity, f.OverSeconds, f.Utilization = detect.Warning, new(0), 0.9
}

func resolved(f *detect.Finding) { f.State = detect.Resolved }

func stream(f *detect.Finding) { f.Quality = detect.NewQuality(detect.SourceChanges) }

func long(f *detect.Finding) { f.LastSeen = f.FirstSeen.Add(detect.HealSeconds * time.Second) }

func refusedFor(r sample.ThrottleReason) tell {
	return func(f *detect.Finding) { f.Evidence.Refused = map[string]int64{r.String(): 700} }
}

func TestStories(t *testing.T) {
	t.Parallel()
	const shard = detect.ActionShard
	for sentence, c := range map[string]struct {
		tells []tell
		want  verdict
	}{
		"a split is likely, and a tenth is refused":  {nil, verdict{casebook.HotKey, casebook.SlowCallers, casebook.Likely, detect.GroundSplit, shard}},
		"a split is likely, and nothing is refused":  {[]tell{unharmed}, verdict{casebook.HotKey, casebook.Wait, casebook.Likely, detect.GroundSplit, shard}},
		"it outlasts splits, and is refused":         {[]tell{long, refusedFor(sample.KeyRange)}, verdict{casebook.HotKey, casebook.SlowCallers, casebook.No, casebook.GroundNoSplit, shard}},
		"it outlasts splits, and nothing is refused": {[]tell{long, unharmed}, verdict{casebook.HotKey, casebook.SlowCallers, casebook.Unknown, casebook.GroundSplitDone, shard}},
		"it is over":                              {[]tell{resolved}, verdict{casebook.HotKey, casebook.Nothing, casebook.Ended, "", shard}},
		"no redesign while the verdict is open":   {[]tell{ground(detect.GroundYoung)}, verdict{casebook.HotKey, casebook.SlowCallers, casebook.Open, detect.GroundYoung, ""}},
		"all seconds are judged in vain":          {[]tell{ground(detect.GroundNotDecided)}, verdict{casebook.HotKey, casebook.SlowCallers, casebook.Unknown, detect.GroundNotDecided, shard}},
		"the load rises in several places":        {[]tell{ground(detect.GroundPlaces)}, verdict{casebook.HotKey, casebook.SlowCallers, casebook.Unknown, detect.GroundPlaces, shard}},
		"it comes in bursts":                      {[]tell{ground(detect.GroundBursts)}, verdict{casebook.HotKey, casebook.SlowCallers, casebook.No, detect.GroundBursts, shard}},
		"sort keys are hashed":                    {[]tell{ground(detect.GroundHashedKeys)}, verdict{casebook.HotKey, casebook.SlowCallers, casebook.Unknown, detect.GroundHashedKeys, shard}},
		"no sort keys are sampled":                {[]tell{ground(detect.GroundNoSortKeys)}, verdict{casebook.HotKey, casebook.SlowCallers, casebook.Unknown, detect.GroundNoSortKeys, shard}},
		"few requests are sampled":                {[]tell{ground(detect.GroundFewSamples)}, verdict{casebook.HotKey, casebook.SlowCallers, casebook.Unknown, detect.GroundFewSamples, shard}},
		"requests carry the times of batches":     {[]tell{ground(detect.GroundBatchTimes), func(f *detect.Finding) { f.Quality.CannotSee = []string{detect.BlindSeconds} }}, verdict{casebook.HotKey, casebook.CheckRefusals, casebook.Unknown, detect.GroundBatchTimes, shard}},
		"one item":                                {[]tell{ground(detect.GroundItem)}, verdict{casebook.HotItem, casebook.SlowCallers, casebook.No, detect.GroundItem, shard}},
		"a local index":                           {[]tell{ground(detect.GroundLocalIndex)}, verdict{casebook.HotKey, casebook.SlowCallers, casebook.No, detect.GroundLocalIndex, shard}},
		"new items at one end":                    {[]tell{ground(detect.GroundSortKey)}, verdict{casebook.HotKey, casebook.SlowCallers, casebook.No, detect.GroundSortKey, shard}},
		"a job makes all of it":                   {[]tell{bounds}, verdict{casebook.HotKey, casebook.SlowCallers, casebook.Likely, detect.GroundSplit, detect.ActionRetry}},
		"a job that may shuffle":                  {[]tell{bounds, func(f *detect.Finding) { f.Advice = slices.Insert(f.Advice, 1, detect.NewStep(detect.FixShuffleInput)) }}, verdict{casebook.HotKey, casebook.SlowCallers, casebook.Likely, detect.GroundSplit, detect.ActionShuffle}},
		"an index key":                            {[]tell{indexed}, verdict{casebook.IndexKey, casebook.SlowCallers, casebook.Likely, detect.GroundSplit, shard}},
		"a key of a time":                         {[]tell{ground(detect.GroundPeriod), func(f *detect.Finding) { f.Rolling = &detect.Rolling{Period: "day"} }}, verdict{casebook.TimeKey, casebook.SlowCallers, casebook.No, detect.GroundPeriod, shard}},
		"most refusals lack the table's capacity": {[]tell{refusedFor(sample.Provisioned)}, verdict{casebook.HotKey, casebook.RaiseCapacity, casebook.Likely, detect.GroundSplit, shard}},

		"most refusals are of the table's maximum": {[]tell{refusedFor(sample.MaxOnDemand)}, verdict{casebook.HotKey, casebook.RaiseMaximum, casebook.Likely, detect.GroundSplit, shard}},

		"near the limit, where refusals would be seen":   {[]tell{warning}, verdict{casebook.NearLimit, casebook.Nothing, casebook.Likely, detect.GroundSplit, shard}},
		"near the limit, where refusals cannot be seen":  {[]tell{warning, stream}, verdict{casebook.NearLimit, casebook.CheckRefusals, casebook.Likely, detect.GroundSplit, shard}},
		"flat at the limit, where refusals are not seen": {[]tell{warning, stream, func(f *detect.Finding) { f.Severity, f.SaturatedSeconds = detect.Critical, 9 }}, verdict{casebook.AtLimit, casebook.CheckRefusals, casebook.Likely, detect.GroundSplit, shard}},
		"samples leave open whether it is over":          {[]tell{warning, func(f *detect.Finding) { f.PossibleSeconds = 9 }}, verdict{casebook.MayBeOver, casebook.CheckRefusals, casebook.Likely, detect.GroundSplit, shard}},
		"for information":                                {[]tell{func(f *detect.Finding) { f.Severity = detect.Info }}, verdict{casebook.HotKey, casebook.Nothing, casebook.Likely, detect.GroundSplit, shard}},

		"a retry storm": {[]tell{is(casebook.RetryStorm)}, verdict{casebook.RetryStorm, casebook.BackOff, casebook.WithLoad, "", shard}},
		"one caller":    {[]tell{is(casebook.OneCaller), unharmed}, verdict{casebook.OneCaller, casebook.SlowCallers, casebook.WithLoad, "", shard}},
		"a test":        {[]tell{is(casebook.TestKey)}, verdict{casebook.TestKey, casebook.StopTest, casebook.WithLoad, "", shard}},
		"a Scan":        {[]tell{subject(detect.SubjectPartition), ground(detect.GroundScan)}, verdict{casebook.Scan, casebook.SlowScan, casebook.WithLoad, "", shard}},
		"a copy in the order of positions": {
			[]tell{subject(detect.SubjectPartition), ground(detect.GroundPositions), shuffles},
			verdict{casebook.Walk, casebook.SlowImport, casebook.No, detect.GroundPositions, detect.ActionShuffle},
		},
		"a sorted import": {
			[]tell{is(casebook.MovingSpot), ground(detect.GroundMoving), shuffles},
			verdict{casebook.MovingSpot, casebook.SlowImport, casebook.No, detect.GroundMoving, detect.ActionShuffle},
		},
		"many callers, key after key": {[]tell{is(casebook.MovingSpot), ground(detect.GroundMoving)}, verdict{casebook.MovingSpot, casebook.SlowCallers, casebook.No, detect.GroundMoving, shard}},
		"served for minutes since": {
			[]tell{func(f *detect.Finding) { f.Through = f.Throttling.To.Add(detect.HealedSeconds * time.Second) }},
			verdict{casebook.HotKey, casebook.Nothing, casebook.Likely, detect.GroundSplit, shard},
		},
		"a partition may split yet": {[]tell{subject(detect.SubjectPartition), refusedFor(sample.KeyRange)}, verdict{casebook.SharedPartition, casebook.Wait, casebook.Likely, detect.GroundSplit, shard}},
		"few values that may split": {[]tell{is(casebook.FewValues), func(f *detect.Finding) {
			f.Advice = append(f.Advice, detect.NewStep(detect.FixSplitMeanwhile))
		}}, verdict{casebook.FewValues, casebook.SlowCallers, casebook.Likely, casebook.GroundDesign, shard}},
		"few values, unharmed":     {[]tell{is(casebook.FewValues), warning}, verdict{casebook.FewValues, casebook.Nothing, casebook.No, casebook.GroundDesign, shard}},
		"an uneven key shard":      {[]tell{is(casebook.UnevenShards)}, verdict{casebook.UnevenShards, casebook.SlowCallers, casebook.Likely, detect.GroundSplit, shard}},
		"warm keys in a partition": {[]tell{subject(detect.SubjectPartition), warning, keys, refusedFor(sample.KeyRange)}, verdict{casebook.SharedPartition, casebook.Wait, casebook.Likely, detect.GroundKeys, shard}},
		"who shares the partition is unknown, and few are refused": {
			[]tell{subject(detect.SubjectPartition), ground(detect.GroundNotSeen), refusedFor(sample.KeyRange), func(f *detect.Finding) {
				f.RefusedKeys, f.Throttling.Share = []detect.RefusedKey{{Key: "k"}}, 0.02
			}}, verdict{casebook.SharedPartition, casebook.BackOff, casebook.Unknown, detect.GroundNotSeen, shard},
		},
		"and many are refused": {
			[]tell{subject(detect.SubjectPartition), ground(detect.GroundNotSeen), refusedFor(sample.KeyRange), func(f *detect.Finding) {
				f.RefusedKeys = []detect.RefusedKey{{Key: "k"}}
			}}, verdict{casebook.SharedPartition, casebook.SlowCallers, casebook.Unknown, detect.GroundNotSeen, shard},
		},
		"no split of a partition": {[]tell{subject(detect.SubjectPartition), long, refusedFor(sample.KeyRange)}, verdict{casebook.SharedPartition, casebook.SlowCallers, casebook.No, casebook.GroundNoSplit, shard}},
		"a new table": {[]tell{subject(detect.SubjectPartition), warning, keys, refusedFor(sample.KeyRange), func(f *detect.Finding) {
			f.Advice = []detect.Step{{Action: detect.ActionPrewarm, Effort: detect.EffortSetting}}
		}}, verdict{casebook.SharedPartition, casebook.Prewarm, casebook.Likely, detect.GroundKeys, ""}},
		"an index holds writes back": {[]tell{subject(detect.SubjectPartition), ground(detect.GroundIndex), refusedFor(sample.OfIndex)}, verdict{casebook.BackPressure, casebook.SlowCallers, casebook.Unknown, detect.GroundIndex, shard}},

		"provisioned capacity":                     {[]tell{starved, refusedFor(sample.Provisioned)}, verdict{casebook.ShortOfCapacity, casebook.RaiseCapacity, casebook.No, casebook.GroundCapacity, shard}},
		"the owner's maximum":                      {[]tell{starved, refusedFor(sample.MaxOnDemand)}, verdict{casebook.OwnMaximum, casebook.RaiseMaximum, casebook.No, casebook.GroundCapacity, shard}},
		"the account's quota":                      {[]tell{starved, refusedFor(sample.AccountLimit)}, verdict{casebook.AccountQuota, casebook.RaiseQuota, casebook.No, casebook.GroundCapacity, shard}},
		"capacity of an index":                     {[]tell{starved, refusedFor(sample.OfIndexCapacity)}, verdict{casebook.IndexCapacity, casebook.RaiseIndexCapacity, casebook.No, casebook.GroundCapacity, shard}},
		"no reason":                                {[]tell{starved, refusedFor(sample.ThrottleUnknown), func(f *detect.Finding) { f.Utilization = 1 }}, verdict{casebook.NoReason, casebook.CheckReason, casebook.Unknown, detect.GroundNoReason, shard}},
		"no reason, and more demand than capacity": {[]tell{starved, refusedFor(sample.ThrottleUnknown), func(f *detect.Finding) { f.Utilization = 1.6 }}, verdict{casebook.ShortOfCapacity, casebook.RaiseCapacity, casebook.No, casebook.GroundCapacity, shard}},
		"callers retry a table": {[]tell{starved, refusedFor(sample.Provisioned), func(f *detect.Finding) {
			f.Advice = []detect.Step{{Action: detect.ActionRetry, Effort: detect.EffortCode}}
		}}, verdict{casebook.ShortOfCapacity, casebook.RaiseCapacity, casebook.No, casebook.GroundCapacity, ""}},

		"samples were lost":      {[]tell{is(casebook.SamplesLost)}, verdict{casebook.SamplesLost, casebook.MendKeyheat, casebook.No, casebook.GroundDesign, shard}},
		"samples show less":      {[]tell{is(casebook.CoverageFell)}, verdict{casebook.CoverageFell, casebook.MendKeyheat, casebook.No, casebook.GroundDesign, shard}},
		"samples were lost once": {[]tell{is(casebook.SamplesLost), resolved}, verdict{casebook.SamplesLost, casebook.Nothing, casebook.Ended, "", shard}},
	} {
		f := hot()
		for _, change := range c.tells {
			change(f)
		}
		if f.Subject == detect.SubjectTable {
			f.Ground = casebook.Lack(f)
		}
		a := casebook.New(f)
		got := verdict{a.Code, a.Move.Act, a.Healing.Outlook, a.Healing.Ground, ""}
		if a.Then != nil {
			got.then = a.Then.Action
		}
		if got != c.want {
			t.Errorf("%s: got %+v, want %+v", sentence, got, c.want)
		}
	}
}

// TestHarm: a harm is what samples or callers show, and none is claimed where they are blind.
func TestHarm(t *testing.T) {
	t.Parallel()
	retried := func(f *detect.Finding) {
		unharmed(f)
		f.Evidence.Retries = &detect.Retries{SentCalls: detect.SentCalls{Calls: 100, Attempts: 400}, Failed: detect.Figure{Value: 20}}
	}
	for sentence, c := range map[string]struct {
		tells []tell
		want  casebook.Harm
	}{
		"a share of the load is refused":    {nil, casebook.Harm{Visible: true, Refused: 0.4}},
		"nothing is refused":                {[]tell{unharmed}, casebook.Harm{Visible: true}},
		"a stream cannot show it":           {[]tell{unharmed, stream}, casebook.Harm{}},
		"why callers sent again is unknown": {[]tell{retried}, casebook.Harm{Visible: true, Failed: 0.2}},
		"samples show throttled attempts":   {[]tell{retried, refusedFor(sample.KeyRange)}, casebook.Harm{Visible: true, Attempts: 700, Failed: 0.2}},
		"a share of a table's requests":     {[]tell{starved, refusedFor(sample.Provisioned)}, casebook.Harm{Visible: true, Attempts: 700, Refused: 0.4}},
		"Keyheat is blind":                  {[]tell{is(casebook.CollectionStopped)}, casebook.Harm{Own: true, Visible: true, Refused: 0.4}},
	} {
		f := hot()
		for _, change := range c.tells {
			change(f)
		}
		c.want.Since = f.FirstSeen
		if c.want.Refused > 0 {
			c.want.From, c.want.To = f.FirstSeen, f.Throttling.To
		}
		if got := casebook.New(f).Harm; got != c.want {
			t.Errorf("%s: got %+v, want %+v", sentence, got, c.want)
		}
	}
}

// TestCallers: a caller is named from a tenth of the load on, and is first only if it
// clearly has more than the next one.
func TestCallers(t *testing.T) {
	t.Parallel()
	part := func(name string, low, high float64) detect.Part {
		return detect.Part{Text: sample.Text(name), Low: low, High: high}
	}
	for sentence, c := range map[string]struct {
		callers []detect.Part
		named   int
		alike   bool
	}{
		"none is known":                 {nil, 0, false},
		"one has all":                   {[]detect.Part{part("a", 0.99, 1)}, 1, false},
		"one has most":                  {[]detect.Part{part("a", 0.5, 0.6), part("b", 0.2, 0.3)}, 2, false},
		"the bounds overlap":            {[]detect.Part{part("a", 0.3, 0.7), part("b", 0.2, 0.4)}, 2, true},
		"one has a little more":         {[]detect.Part{part("a", 0.36, 0.37), part("b", 0.31, 0.32), part("c", 0.31, 0.32)}, 3, true},
		"the next one may have as much": {[]detect.Part{part("a", 0.11, 0.6), part("b", 0.05, 0.5)}, 1, true},
		"a fourth is not named":         {[]detect.Part{part("a", 0.25, 0.25), part("b", 0.25, 0.25), part("c", 0.25, 0.25), part("d", 0.25, 0.25)}, 3, true},
		"none has a tenth":              {[]detect.Part{part("a", 0.05, 0.06), part("b", 0.01, 0.02)}, 0, false},
		"most requests name no caller":  {[]detect.Part{part("", 0.6, 0.6), part("b", 0.2, 0.2)}, 1, true},
	} {
		f := hot()
		f.Evidence.Callers = c.callers
		a := casebook.New(f)
		if len(a.Callers) != c.named || a.Alike != c.alike || len(a.Move.Callers) != c.named {
			t.Errorf("%s: named %+v, alike %t", sentence, a.Callers, a.Alike)
		}
	}
	f := hot()
	is(casebook.RetryStorm)(f)
	f.Evidence.Callers = []detect.Part{part("web", 0.9, 0.9)}
	f.Evidence.Retries = &detect.Retries{Callers: []detect.CallerRetries{{Caller: "job", Share: 0.7}}}
	if m := casebook.New(f).Move; len(m.Callers) != 1 || m.Callers[0].Text != "job" {
		t.Errorf("a storm is ended by %+v", m.Callers)
	}
}

// TestSteps: nobody waits for a split of a key that is over.
func TestSteps(t *testing.T) {
	t.Parallel()
	f := hot()
	all := len(casebook.Steps(f))
	resolved(f)
	left := casebook.Steps(f)
	if len(left) != all-1 || slices.ContainsFunc(left, func(s detect.Step) bool { return s.Action == detect.ActionWait }) {
		t.Errorf("of %d steps %+v are left", all, left)
	}
}

// TestKnown: an open verdict takes the seconds of load that are missing.
func TestKnown(t *testing.T) {
	t.Parallel()
	f := hot()
	ground(detect.GroundYoung)(f)
	for seconds, split := range map[time.Duration]*detect.Split{0: nil, 20: {Seconds: 20}} {
		f.Evidence.Split = split
		if got, want := casebook.New(f).Healing.Known, (detect.SplitSeconds-seconds)*time.Second; got != want {
			t.Errorf("known in %s, want %s", got, want)
		}
	}
}
