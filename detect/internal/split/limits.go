package split

import "github.com/keyheat/keyheat/detect"

// What decides a verdict. The thresholds were chosen on simulated patterns of sort
// keys at 1,300 to 5,000 units a second, sampled at 100, 10 and 1%; the tests of this
// package hold them against patterns of their own.
const (
	// slotSeconds seconds share a sample of slotPlaces places; slots are one more
	// than window takes, because it seldom begins with a slot.
	slotSeconds, slotPlaces = 10, 128
	// window is how many seconds a verdict looks at.
	window = detect.SplitSeconds
	slots  = window/slotSeconds + 1
	// earlySeconds and earlyPlaces are what it takes to say that no split helps,
	// of which each third has eachPlaces.
	earlySeconds, earlyPlaces, eachPlaces = 3, 30, 8
	// deviations is how many standard deviations a verdict stays away from the limit.
	deviations = 3
	// coolShare of a limit is what parts are cut to for the verdict, heatShare from
	// where DynamoDB splits for heat and so what they are cut to for figures.
	coolShare, heatShare = 0.5, 0.9
	// levels is how often a part of a part is cut.
	levels = 7
	// judgedAt is the load, as a share of the limit, at which a key is judged that
	// is below it: whether a split would help once it is not.
	judgedAt = 1.3
	// burstSeconds is how long bursts are watched before they are called so, burstPeak
	// how many times the mean the highest second is in a burst, and
	// peakDeviations by how many deviations a sampled second counts less: with it the
	// highest of an hour is unbiased.
	burstSeconds, burstPeak, peakDeviations = window / 2, 1.5, 2.15
	// directed is the share of the load behind the end of the earlier keys from which
	// the load rises or falls, and does not wander.
	directed = 0.5
	// stepped is how likely a request has a greater sort key than one of the third
	// before it, from which the load rises; of a queue whose tail is minutes behind its
	// head it is 0.75, of writers that begin again 0.5.
	stepped = 0.7
	// turnSeconds is how many seconds it takes to say that parts are full in turn.
	turnSeconds = 5
	// itemsKept is how many items of a second are kept.
	itemsKept = 4
)
