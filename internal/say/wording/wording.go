// Package wording writes numbers, shares and keys for people, so that the command
// line, the pages and the advice write them alike: thousands separated by commas,
// 12% and not "12 percent", at most three significant digits where an amount is an estimate.
package wording

import (
	"fmt"
	"math"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// Names returns words of a type of their own as text.
func Names[T ~string](all []T) []string {
	names := make([]string, len(all))
	for i, name := range all {
		names[i] = Printable(name)
	}
	return names
}

// Amount writes whole units with thousands separated: 12,345.
func Amount(m sample.Milli) string { return Count(int64(math.Round(detect.Units(m)))) }

// Count writes a whole number with thousands separated.
func Count(n int64) string {
	if n < 0 {
		return "-" + Count(-n)
	}
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return Count(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// About writes an amount of units: whole ones, below ten with one decimal.
func About(v float64) string {
	if math.Abs(v) < 10 && v != math.Trunc(v) {
		return fmt.Sprintf("%.1f", v)
	}
	return Count(int64(math.Round(v)))
}

// Figure writes an amount with its bounds, where these differ: 1,200 (1,100 to 1,300).
func Figure(f detect.Figure) string {
	if About(f.Low) == About(f.Value) && About(f.High) == About(f.Value) {
		return About(f.Value)
	}
	return fmt.Sprintf("%s (%s to %s)", About(f.Value), AtLeast(f.Low), AtMost(f.High))
}

// Seconds writes a number of seconds.
func Seconds(n int) string {
	if n == 1 {
		return "1 second"
	}
	return Count(int64(n)) + " seconds"
}

// Hottest names the seconds of a key that were looked at: the hottest second, or the 16
// hottest seconds.
func Hottest(n int) string {
	if n <= 1 {
		return "the hottest second"
	}
	return "the " + Count(int64(n)) + " hottest seconds"
}

// Plateau writes a number of seconds in which a load levelled off, and which ones count.
func Plateau(n int) string {
	return fmt.Sprintf("%s (at least %d of %d in a row)", Seconds(n), detect.SaturatedSeconds, detect.SaturatedOf)
}

// List joins words: a, b and c.
func List(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// Between writes a share with its bounds: 62 to 71%.
func Between(p detect.Part) string {
	low, high := 100*p.Low, 100*p.High
	if high-low < 1 {
		return fmt.Sprintf("%.0f%%", low)
	}
	return fmt.Sprintf("%.0f to %.0f%%", bound(low, 1, down), bound(high, 1, up))
}

// Shares writes the three largest of some parts that are worth naming, and how many more there
// are at least. Where there are more than are told apart the bounds of each may say nothing of it: then
// it is said that all are small, in the words for one of them, where that decides anything, as of
// callers, none of which makes the key hot alone. Nothing where one is empty, as of items, of
// which the reason says how they share the load, or where not even that is known.
func Shares(one string, parts []detect.Part) string {
	var words []string
	most := 0.0
	for _, p := range parts {
		most = max(most, p.High)
		tells := p.High-p.Low < 0.1 || p.High <= 3*p.Low
		if len(words) < 3 && p.Low >= 0.01 && tells {
			words = append(words, fmt.Sprintf("%s with %s", Printable(p.Text), Between(p)))
		}
	}
	if len(words) == 0 && len(parts) > 0 && one != "" && most < 0.5 {
		return fmt.Sprintf("no %s has more than %.0f%%, so that none makes most of the load", one, math.Ceil(100*most))
	}
	if more := len(parts) - len(words); len(words) > 0 && more > 0 {
		words = append(words, fmt.Sprintf("and at least %s more", Count(int64(more))))
	}
	return strings.Join(words, "; ")
}

// Quote writes a key within a sentence.
func Quote[T ~string](key T) string { return "“" + Printable(key) + "”" }

// Printable returns text that others wrote, such as a key, so that it does nothing
// but be read: control characters, escape sequences of terminals, characters that
// change the direction of what follows, and bytes that are no text are written as
// escapes.
func Printable[T ~string](text T) string { return fmt.Sprint(sample.Text(text)) }

// Percent writes a share with three significant digits: 12.5%.
func Percent(share float64) string {
	percent := Rounded(math.Round(1000*share) / 10)
	if percent >= 1000 {
		return About(percent) + "%"
	}
	return fmt.Sprintf("%.3g%%", percent)
}

// Significant writes a number with three significant digits and thousands separated.
func Significant(v float64) string { return Amount(detect.Milli(Rounded(v))) }

// Rounded returns v with three significant digits.
func Rounded(v float64) float64 { return toDigits(v, 3) }

// Plural writes a number with the word for one or for many.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(int64(n)) + " " + many
}

// WholePercent writes a share in whole percents.
func WholePercent(share float64) string { return Count(int64(math.Round(100*share))) + "%" }

// Part writes a part of a whole in percent without a fraction: all, or nothing, is only said of
// what is just that.
func Part(share float64) string {
	switch {
	case share >= 0.995 && share < 1:
		return "over 99%"
	case share > 0 && share <= 0.005:
		return "under 1%"
	case share >= 10:
		return WholePercent(share)
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}

// PartWithin writes a part of a whole with its bounds, 33% (24 to 44%), and without them where
// they say as much.
func PartWithin(share, low, high float64) string {
	if high-low < 0.01 {
		return Part(share)
	}
	least := math.Floor(100 * low)
	if least < 1 {
		least = math.Floor(1000*low) / 10
	}
	return fmt.Sprintf("%s (%v to %.0f%%)", Part(share), least, math.Ceil(100*high))
}

// Roughly writes a number with two significant digits, as is good enough for a mean of the
// requests that were looked at: about 260.
func Roughly(v float64) string { return "about " + About(toDigits(v, 2)) }

// Size writes a mean size in bytes likewise: about 260 KB.
func Size(bytes float64) string {
	if bytes < 1<<10 {
		return Roughly(bytes) + " bytes"
	}
	return Roughly(bytes/(1<<10)) + " KB"
}

// Dollars writes a price in US dollars.
func Dollars(amount float64) string {
	if amount < 0.01 {
		return "less than $0.01"
	}
	return fmt.Sprintf("$%.2f", amount)
}

// toDigits returns v with so many significant digits.
func toDigits(v, digits float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	scale := math.Pow(10, digits-1-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}
