package web

import (
	"github.com/keyheat/keyheat/internal/web/overview"
)

type parameter struct{ Name, Value string }

// order is a way to sort.
type order struct{ Value, Word string }

var orders = []order{{overview.Worst, "worst first"}, {overview.Newest, "newest first"}, {overview.Table, "table"}, {overview.Key, "key"}}

// choice is a link that chooses a value.
type choice struct {
	Word, Link string
	Chosen     bool
}
