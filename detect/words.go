package detect

import (
	"fmt"
	"math"
	"strings"

	"github.com/keyheat/keyheat/sample"
)

func perSecond(m sample.Milli, k Kind) string {
	if k == HotKeyRead {
		return amountOf(m) + " read units"
	}
	return amountOf(m) + " write units"
}

// amountOf writes whole units with thousands apart: 12,345.
func amountOf(m sample.Milli) string { return count(int64(math.Round(units(m)))) }

// count writes a whole number with thousands apart.
func count(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return count(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// about writes an amount of units: whole ones, small ones with one decimal.
func about(v float64) string {
	if v < 10 && v != math.Trunc(v) {
		return fmt.Sprintf("%.1f", v)
	}
	return count(int64(math.Round(v)))
}

func seconds(n int) string {
	if n == 1 {
		return "1 second"
	}
	return count(int64(n)) + " seconds"
}

// list joins words: a, b and c.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
