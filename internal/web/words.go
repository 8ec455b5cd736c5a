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

// words are what templates say things with.
var words = template.FuncMap{
	"amount":  amount,
	"whole":   whole,
	"percent": percent,
	"about":   about,
	"subject": subject,
	"between": shareOf,
	"iso":     func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"clock":   func(t time.Time) string { return t.UTC().Format("15:04:05") },
	"moment":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
	"count":   count,
	"keytext": keytext,
	"day":     func(t time.Time) string { return t.UTC().Format("2006-01-02") },
	"upper":   strings.ToUpper,
	"mood":    mood,
	"carries": carries,
	"share":   sharePercent,
	"early":   func(f any) when { return newWhen(f, 0.7) },
	"full":    func(f any) when { return newWhen(f, 1) },

	"tablelink": tableLink,
	"distinct":  distinctKeys,
}

// whole writes thousands apart: 12,345.
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

// percent writes a share; of a share that is not known, nothing.
func percent(share any) string {
	switch v := share.(type) {
	case float64:
		return whole(int64(math.Round(100*v))) + " %"
	case *float64:
		if v != nil {
			return percent(*v)
		}
	}
	return ""
}

// abouts say in a few words what a finding of each kind is about.
var abouts = map[detect.Kind]string{
	detect.HotKeyWrite: "hot by writes", detect.HotKeyRead: "hot by reads", detect.HotGSIKey: "hot by writes, in an index",
	detect.HotPartition: "a hot partition without a hot key", detect.TableStarvation: "too little capacity",
	detect.RollingHotKey: "a new hot key each time", detect.LowCardinalityKey: "too few key values",
	detect.TooFewShards: "too few shards", detect.TooManyShards: "too many shards", detect.UnevenShards: "uneven shards",
	detect.LargeItem: "large items that change little", detect.SingleCaller: "one caller alone", detect.TestKey: "a test's key",
	detect.LargeCollection: "a collection that grows towards 10 GB",
}

func about(k detect.Kind) string {
	if words, known := abouts[k]; known {
		return words
	}
	return string(k)
}

// subject is the key that a finding is about, or all of them.
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
	return strings.TrimSuffix(low, " %") + " to " + high
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return whole(int64(n)) + " " + many
}

// keytext shows what a page would swallow: blanks at the ends and what does
// not print.
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

// limit is what one partition gives of what a kind is about, in units a second.
func limit(k detect.Kind) float64 {
	if k == detect.HotKeyRead {
		return float64(detect.PartitionRead) / 1000
	}
	return float64(detect.PartitionWrite) / 1000
}

// unit names what a kind is counted in.
func unit(k detect.Kind) string {
	if k == detect.HotKeyRead {
		return "RCU"
	}
	return "WCU"
}

// figure is the part of a load that a kind is about.
func figure(k detect.Kind, l detect.Loads) detect.Figure {
	if k == detect.HotKeyRead {
		return l.RCU
	}
	return l.WCU
}
