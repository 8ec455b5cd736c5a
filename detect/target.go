package detect

import "github.com/keyheat/keyheat/sample"

// Target is what load is judged for: a table or an index of it. Limits hold for
// each by itself.
type Target = sample.Target
