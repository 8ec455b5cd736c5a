package casebook

import "github.com/keyheat/keyheat/detect"

// Contention is an item whose requests take attempts from each other.
const Contention detect.Case = "contention"

// No limit refuses these attempts, so neither a split nor capacity ends them, but fewer requests at
// once do. The first help is the same for all shapes: callers that retry at once meet again.
var contention = Case{
	Code:    Contention,
	Subject: detect.SubjectItem,
	Heals:   healsWithLoad,
	Tonight: always(BackOff),
}
