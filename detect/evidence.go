package detect

// Evidence is what the requests of a key were like in its hottest seconds, as
// far as they were gathered. Shares are of the load, 0 to 1.
type Evidence struct {
	// Seconds and Records are how many it rests on.
	Seconds int   `json:"seconds"`
	Records int64 `json:"records"`
	// Operations are ordered by their share.
	Operations []Operation `json:"operations"`
	// Refused counts throttled requests by cause.
	Refused map[string]int64 `json:"refused"`
	// StrongReads is the share of the read units that were read strongly
	// consistently or in transactions.
	StrongReads float64 `json:"strong_reads"`
	// SortKeys is null when no request had a sort key.
	SortKeys *SortKeys `json:"sort_keys"`
	// Items are the hottest sort keys, Callers the busiest callers.
	Items   []Part `json:"items"`
	Callers []Part `json:"callers"`
	// ItemBytes is the mean size of an item, 0 when unknown. ChangedShare is the
	// part of the items' bytes that writes changed, Attributes the attributes
	// that they did; both need whole images, and are null and empty without them.
	ItemBytes    float64  `json:"item_bytes"`
	ChangedShare *float64 `json:"changed_share"`
	Attributes   []Part   `json:"attributes"`
	// GrowthBytes is by how many bytes a second the item collection grew; null
	// without images.
	GrowthBytes *float64 `json:"growth_bytes"`
}

// Operation is one operation's share of the load. Requests are per second.
type Operation struct {
	Op       string  `json:"op"`
	Share    float64 `json:"share"`
	Requests float64 `json:"requests"`
}

// SortKeys is what is known of sort keys.
type SortKeys struct {
	// Known is the share of the requests that had one, Distinct about how many
	// there were in the hottest second.
	Known    float64 `json:"known"`
	Distinct float64 `json:"distinct"`
	// Steps are how often a write's sort key differed from the one before,
	// Rising the share of them that rose.
	Steps  int64   `json:"steps"`
	Rising float64 `json:"rising"`
}

// Part is one item's, caller's or attribute's share of the load: Low decides,
// High is the most that it can be.
type Part struct {
	Text string  `json:"text"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}
