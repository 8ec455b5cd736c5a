package sample

// Target is what load is counted and judged for: a table, or an index of it, of
// one account in one Region. An empty field is unknown, but for Index, where it
// is the table itself.
type Target struct {
	Account string `json:"account"`
	Region  string `json:"region"`
	Table   string `json:"table"`
	Index   string `json:"index"`
}
