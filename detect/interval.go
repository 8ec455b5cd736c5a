package detect

import "github.com/keyheat/keyheat/sample"

// figure is an amount with its bounds.
type figure struct{ value, low, high sample.Milli }

func (f figure) max(o figure) figure {
	return figure{max(f.value, o.value), max(f.low, o.low), max(f.high, o.high)}
}

// units divides a figure by some seconds.
func (f figure) units(seconds int64) Figure {
	n := float64(max(seconds, 1))
	return Figure{Value: units(f.value) / n, Low: units(f.low) / n, High: units(f.high) / n}
}
