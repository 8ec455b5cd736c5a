package analyze

import "context"

// Files reads the files and returns what was found.
func Files(ctx context.Context, o Options) (*Result, error) {
	f, err := read(ctx, o)
	if err != nil {
		return nil, err
	}
	return f.result(o)
}

// ErrFull is the error of seconds that do not fit into the memory.
var ErrFull = errFull
