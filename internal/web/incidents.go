package web

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/web/fleet"
	"github.com/keyheat/keyheat/internal/web/overview"
)

// row is an incident in the list.
type row struct {
	overview.Row
	Said say.Row
	// Where is the account and Region of the table.
	Where string
	// Load is the size of the load, with its ratio to the limit.
	Load string
	// Silenced is the silence of the incident; nil for none.
	Silenced *detect.Silenced
}

type section struct {
	overview.Section
	Rows []row
}

type parameter struct{ Name, Value string }

// order is a way to sort.
type order struct{ Value, Word string }

var orders = []order{{overview.Worst, "worst first"}, {overview.Newest, "newest first"}, {overview.Table, "table"}, {overview.Key, "key"}}

// choice is a link that chooses a value.
type choice struct {
	Word, Link string
	Chosen     bool
}

// calm is what the page shows when no key is near a limit.
type calm struct {
	*fleet.Calm
	// Leads is where the nearest key is; empty without one.
	Leads string
}

func newCalm(c *fleet.Calm) *calm {
	if c.Nearest == nil {
		return &calm{Calm: c}
	}
	return &calm{c, hotLink(*c.Nearest)}
}
