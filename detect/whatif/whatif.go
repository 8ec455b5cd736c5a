package whatif

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Second is one second of one key, with the bounds of its requested load.
type Second struct {
	// At is the event-time second, in Unix seconds.
	At       int64
	Low, Err sketch.Load
	Requests int64
}

// Answer is the load of a key with some number of shards.
type Answer struct {
	detect.Target
	Key sample.Text `json:"key"`
	// Unit is WCU or RCU, whichever is nearer to its limit, and Limit a partition's limit
	// in it.
	Unit  string  `json:"unit"`
	Limit float64 `json:"limit"`
	// Shards and Factor are the question: Shards shards at Factor times the load.
	Shards int     `json:"shards"`
	Factor float64 `json:"factor"`
	// Peak is the highest second at Factor times the load. PerShard is an even shard's
	// part of it, in units a second.
	Peak     float64 `json:"peak"`
	PerShard float64 `json:"per_shard"`
	// Fullest is the load of the fullest shard in that second with a random suffix: its
	// mean, and FullestP95 its 95th percentile.
	Fullest    float64 `json:"fullest"`
	FullestP95 float64 `json:"fullest_p95"`
	// Needed is the number of shards that carry the peak with the policy's headroom.
	Needed int `json:"needed"`
	// Seconds counts the seconds with the key. OverUnsharded counts seconds above the
	// limit without shards, OverSharded seconds with an even shard above it.
	Seconds       int `json:"seconds"`
	OverUnsharded int `json:"over_unsharded"`
	OverSharded   int `json:"over_sharded"`
	// Placements are simulated placements of the shards on some numbers of equal
	// partitions.
	Placements []PlacementOdds `json:"placements"`
	// Seed is the seed of every simulation.
	Seed uint64 `json:"seed"`
	// Ground is that of the key's finding, empty without one. Item is the proven load of
	// its heaviest item at Factor times the load, in units a second. Shards divide items,
	// so no number of them helps a hot item.
	Ground detect.Ground `json:"ground"`
	Item   float64       `json:"item"`
	// Instead is the finding's first fix in place of shards, because it suffices; empty if
	// its advice includes shards.
	Instead detect.Fix `json:"instead"`
	// AllAsked reports that the load is queries. Shards do not divide it if each query
	// asks all shards, and each shard costs as much as the key does now.
	AllAsked bool `json:"all_asked"`
}

// Verdict is the answer in one word.
type Verdict string

// The verdicts.
const (
	// Undivided means that shards suffice only if the value of one item can be divided.
	Undivided Verdict = "undivided"
	// KnownShard means that shards suffice only if each query knows its shard.
	KnownShard Verdict = "known_shard"
	// AfterSplits means that the key exceeds the limit until DynamoDB has split its items.
	AfterSplits Verdict = "after_splits"
	// TooFew means that each shard exceeds the limit, Barely that none has the headroom.
	TooFew Verdict = "too_few"
	Barely Verdict = "barely"
	// Crowded means that shards may share a partition, which is then full until DynamoDB
	// splits it.
	Crowded Verdict = "crowded"
	// Enough means that the shards carry the load, with room to grow.
	Enough Verdict = "enough"
)

// sharedOften is the least chance of a full partition that makes shards crowded.
const sharedOften = 0.05

// Verdict returns whether the shards are enough, and whether they have room at once.
func (w *Answer) Verdict() Verdict {
	switch {
	case w.IsUndivided() && w.PerShard <= w.Limit:
		return Undivided
	case w.AllAsked && w.Shards > 1 && w.PerShard <= w.Limit:
		return KnownShard
	case w.Shards == 1 && w.Ground.Splits() && w.PerShard > w.Limit:
		return AfterSplits
	case w.PerShard > w.Limit:
		return TooFew
	case w.Shards < w.Needed:
		return Barely
	case slices.ContainsFunc(w.Placements, func(p PlacementOdds) bool { return p.Over >= sharedOften }):
		return Crowded
	}
	return Enough
}

// Agree copies the ground of the key's finding, so that answer and finding agree.
func (w *Answer) Agree(f *detect.Finding) {
	read := f.Subject == detect.KeyReads
	if !f.Subject.OfKey() || f.Target != w.Target || f.Key != w.Key || read != (w.Unit == "RCU") {
		return
	}
	w.Ground = f.Ground
	w.AllAsked = slices.ContainsFunc(f.Advice, func(s detect.Step) bool {
		return s.Action == detect.ActionShard && s.Arguments.Units == 0 && s.After != nil && s.After.HighUtilization*w.Factor > 1 && s.After.Low < s.After.High
	})
	if w.Instead = ""; len(f.Advice) > 0 && !slices.ContainsFunc(f.Advice, makesShards) {
		w.Instead = f.Advice[0].Fix
	}
	switch s := f.PredictedSplit(); {
	case f.Ground == detect.GroundItem && (s == nil || s.Item == 0):
		w.Item = w.Peak // the table has no sort key: the key is one item
	case s != nil:
		w.Item = s.Item * w.Factor
	}
}

// makesShards reports whether a step divides the key, or its item.
func makesShards(s detect.Step) bool {
	return s.Action == detect.ActionShard || s.Action == detect.ActionSplit || s.Action == detect.ActionCopies
}

// IsUndivided reports whether one item alone exceeds a partition's limit: then no number
// of shards carries the load.
func (w *Answer) IsUndivided() bool { return w.Ground == detect.GroundItem || w.Item > w.Limit }

// PlacementOdds summarises a simulated placement of the shards.
type PlacementOdds struct {
	Partitions int `json:"partitions"`
	// Share is the chance that two shards or more share a partition, Over the chance that
	// the load of the fullest partition exceeds its limit.
	Share float64 `json:"share"`
	Over  float64 `json:"over"`
	// Mean is the expected load of the fullest partition, in units a second.
	Mean float64 `json:"mean"`
}

// Question is a number of shards to try, at Factor times the load.
type Question struct {
	Key    sample.Text
	Shards int
	Factor float64
}

// Parse parses KEY=N, or KEY=N,xF for F times the load. It splits at the last =, since
// keys may contain one.
func Parse(text string) (Question, error) {
	bad := func(why error) (Question, error) {
		return Question{}, fmt.Errorf("%q: %w: write KEY=SHARDS, such as user#42=8, or user#42=8,x10 for ten times the load", text, why)
	}
	i := strings.LastIndex(text, "=")
	if i <= 0 {
		return bad(errors.New("no number of shards"))
	}
	q := Question{Key: sample.Text(text[:i]), Factor: 1}
	shards, factor, with := strings.Cut(text[i+1:], ",")
	var err error
	if q.Shards, err = strconv.Atoi(shards); err != nil || q.Shards < 1 || q.Shards > 100_000 {
		return bad(errors.New("shards are a whole number from 1 to 100,000"))
	}
	if with {
		number, isFactor := strings.CutPrefix(factor, "x")
		q.Factor, err = strconv.ParseFloat(number, 64)
		if !isFactor || err != nil || !(q.Factor > 0 && q.Factor <= 1e6) {
			return bad(errors.New("the factor is x and a number above 0"))
		}
	}
	return q, nil
}

// Ask answers a question from a key's seconds; nil without seconds.
func Ask(q Question, t detect.Target, seconds []Second, p detect.Policy) *Answer {
	if len(seconds) == 0 {
		return nil
	}
	side := detect.KeyWrites
	if hottestOf(seconds, detect.KeyReads) > hottestOf(seconds, detect.KeyWrites) {
		side = detect.KeyReads
	}
	most := slices.MaxFunc(seconds, func(a, b Second) int {
		return int(min(1, max(-1, detect.Amount(side, a.Low)-detect.Amount(side, b.Low))))
	})
	w := &Answer{
		Target: t, Key: q.Key, Unit: detect.Side(side, "WCU", "RCU"), Limit: detect.Units(detect.Limit(side)), Shards: q.Shards, Factor: q.Factor,
		Peak: detect.Units(detect.Amount(side, most.Low)) * q.Factor, Seconds: len(seconds), Seed: placementSeed,
	}
	w.PerShard = w.Peak / float64(q.Shards)
	w.Needed = detect.Shards(sample.Milli(w.Peak*1000), detect.Limit(side), p.Headroom)
	w.Fullest, w.FullestP95 = fullestShard(float64(most.Requests)*q.Factor, q.Shards, w.PerShard)
	for _, s := range seconds {
		load := detect.Units(detect.Amount(side, s.Low)) * q.Factor
		if load > w.Limit {
			w.OverUnsharded++
		}
		if load/float64(q.Shards) > w.Limit {
			w.OverSharded++
		}
	}
	w.Placements = []PlacementOdds{}
	if q.Shards <= maxPlaced {
		for _, times := range []int{1, 2, 4} {
			p := Place(q.Shards, times*q.Shards, w.Peak, placementSeed)
			w.Placements = append(w.Placements, PlacementOdds{Partitions: times * q.Shards, Share: p.Chance(2), Over: p.ShareOver(w.Limit), Mean: p.Mean})
		}
	}
	return w
}

func hottestOf(seconds []Second, k detect.Subject) (most float64) {
	for _, s := range seconds {
		most = max(most, detect.Units(detect.Amount(k, s.Low))/detect.Units(detect.Limit(k)))
	}
	return most
}

const dealTrials = 500

// fullestShard deals a second's requests to shards at random, a Poisson number to each.
// It returns the mean and the 95th percentile of the fullest shard's load.
func fullestShard(requests float64, shards int, perShard float64) (mean, p95 float64) {
	each := requests / float64(shards)
	if each <= 0 || shards == 1 || shards > 10_000 {
		return perShard, perShard
	}
	random := rand.New(rand.NewPCG(placementSeed, 1))
	fullest := make([]float64, dealTrials)
	for trial := range fullest {
		for range shards {
			fullest[trial] = max(fullest[trial], poisson(random, each)/each*perShard)
		}
		mean += fullest[trial] / dealTrials
	}
	slices.Sort(fullest)
	return mean, fullest[dealTrials*95/100]
}

// poisson draws a count. From a mean of 50 on it uses the normal distribution, a good
// approximation there.
func poisson(random *rand.Rand, mean float64) float64 {
	if mean >= 50 {
		return max(0, math.Round(mean+math.Sqrt(mean)*random.NormFloat64()))
	}
	n, product := 0.0, random.Float64()
	for limit := math.Exp(-mean); product > limit; n++ {
		product *= random.Float64()
	}
	return n
}
