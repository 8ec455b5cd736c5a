package web

import (
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/web/status"
)

// health is the link to the status page: a dot with its text.
type health struct{ Class, Text string }

func newHealth(s status.Status) health {
	worst, problems := s.Health()
	switch {
	case problems > 0:
		return health{string(worst), wording.Plural(problems, "problem", "problems")}
	case worst == status.Well:
		return health{string(worst), "Running"}
	}
	return health{"unknown", "Status unknown"}
}
