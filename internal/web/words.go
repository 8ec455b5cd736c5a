package web

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
)

// functions are what templates call.
var functions = template.FuncMap{
	"amount":  amount,
	"whole":   whole,
	"percent": percent,
	"kind":    kindName,
	"subject": subject,
	"between": shareOf,
	"iso":     func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"clock":   func(t time.Time) string { return t.UTC().Format("15:04:05") },
	"moment":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
	"count":   count,
	"keytext": keytext,
	"day":     func(t time.Time) string { return t.UTC().Format("2006-01-02") },
	"upper":   strings.ToUpper,
	"class":   verdictClass,
	"ceiling": ceilingText,
	"share":   sharePercent,
	"at70":    func(f any) reach { return newReach(f, 0.7) },
	"at100":   func(f any) reach { return newReach(f, 1) },

	"tablelink": tableLink,
	"distinct":  distinctKeys,
}

// whole writes a number with thousands separators: 12,345.
func whole(n int64) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}

// amount writes units: whole ones, or below ten with one decimal.
func amount(v float64) string {
	if v != math.Trunc(v) && math.Abs(v) < 10 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return whole(int64(math.Round(v)))
}

// percent writes a share; of an unknown share, nothing.
func percent(share any) string {
	switch v := share.(type) {
	case float64:
		return whole(int64(math.Round(100*v))) + "%"
	case *float64:
		if v != nil {
			return percent(*v)
		}
	}
	return ""
}

// kindNames name the kinds of findings.
var kindNames = map[detect.Kind]string{
	detect.HotKeyWrite: "hot key (writes)", detect.HotKeyRead: "hot key (reads)", detect.HotGSIKey: "hot key of an index (writes)",
	detect.HotPartition: "hot partition without a hot key", detect.TableStarvation: "table capacity exhausted",
	detect.RollingHotKey: "rolling hot key", detect.LowCardinalityKey: "low-cardinality key",
	detect.TooFewShards: "too few shards", detect.TooManyShards: "too many shards", detect.UnevenShards: "uneven shards",
	detect.LargeItem: "large items, small updates", detect.SingleCaller: "single caller", detect.TestKey: "test key",
	detect.LargeCollection: "item collection near 10 GB",
}

func kindName(k detect.Kind) string {
	if words, known := kindNames[k]; known {
		return words
	}
	return string(k)
}

// subject returns the key that a finding is about, or all of them.
func subject(k detect.Kind, key string) string {
	switch k {
	case detect.HotPartition, detect.TableStarvation, detect.LowCardinalityKey:
		return "All keys"
	}
	return keytext(key)
}

// shareOf writes a share with its bounds, where these differ.
func shareOf(p detect.Part) string {
	low, high := percent(p.Low), percent(p.High)
	if low == high {
		return low
	}
	return strings.TrimSuffix(low, "%") + " to " + high
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return whole(int64(n)) + " " + many
}

// keytext quotes a key where a page would not show it: spaces at the ends and what
// does not print.
func keytext(key string) string {
	if key == "" {
		return "(empty)"
	}
	quoted := strconv.QuoteToGraphic(key)
	if inner := strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`); inner != key || strings.TrimSpace(key) != key {
		return fmt.Sprintf("“%s”", inner)
	}
	return key
}

// limit returns the limit of one partition that a kind is about, in units per second.
func limit(k detect.Kind) float64 {
	if k == detect.HotKeyRead {
		return float64(detect.PartitionRead) / 1000
	}
	return float64(detect.PartitionWrite) / 1000
}

// unit returns the unit of a kind.
func unit(k detect.Kind) string {
	if k == detect.HotKeyRead {
		return "RCU"
	}
	return "WCU"
}

// figure returns the part of a load that a kind is about.
func figure(k detect.Kind, l detect.Loads) detect.Figure {
	if k == detect.HotKeyRead {
		return l.RCU
	}
	return l.WCU
}
