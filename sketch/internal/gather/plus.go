package gather

import (
	"math"

	"github.com/keyheat/keyheat/sample"
)

// Plus adds two amounts. If the sum overflows, it is the largest number.
func Plus(a, b sample.Milli) sample.Milli {
	sum := a + b
	if sum < 0 && a >= 0 && b >= 0 {
		return math.MaxInt64
	}
	return sum
}
