package config

import (
	"encoding"
	"errors"
	"fmt"
	"github.com/keyheat/keyheat/internal/settings/options"
	"reflect"
	"strconv"
	"strings"
	"time"
)

var (
	durationType  = reflect.TypeFor[time.Duration]()
	secretType    = reflect.TypeFor[Secret]()
	textType      = reflect.TypeFor[encoding.TextUnmarshaler]()
	stringsType   = reflect.TypeFor[[]string]()
	errNotBool    = errors.New("write true or false")
	errNotInteger = errors.New("write a whole number")
	errNotNumber  = errors.New("write a number")
)

// isText reports whether one text fills a value of this type.
func isText(t reflect.Type) bool {
	if t == durationType || t == stringsType || reflect.PointerTo(t).Implements(textType) {
		return true
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
		return true
	}
	return false
}

// setText fills v from a text, which its error does not repeat. Commas separate a list.
func setText(v reflect.Value, text string) error {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch {
	case v.Type() == durationType:
		return setDuration(v, text)
	case v.Type() == stringsType:
		v.Set(reflect.ValueOf(splitList(text)))
		return nil
	}
	return setScalar(v, text)
}

func setScalar(v reflect.Value, text string) error {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return errNotBool
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return errNotInteger
		}
		v.SetInt(n)
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || x != x {
			return errNotNumber
		}
		v.SetFloat(x)
	default:
		return fmt.Errorf("a %s cannot be configured", v.Type())
	}
	return nil
}

// setDuration rejects a bare number: nobody means nanoseconds, and whether
// seconds or milliseconds were meant is a guess.
func setDuration(v reflect.Value, text string) error {
	d, err := options.ParseDuration(text)
	if err != nil {
		return errors.New("write a duration with its unit, such as 500ms, 2s, 10m, 24h or 7d")
	}
	v.SetInt(int64(d))
	return nil
}

// splitList reads "a, b,c"; an empty text is an empty list.
func splitList(text string) []string {
	var list []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// textOf returns the text that fills a value again; empty for an empty one.
func textOf(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case Secret:
		return ""
	case time.Duration:
		return options.FormatDuration(x)
	case []string:
		return strings.Join(x, ",")
	case encoding.TextMarshaler:
		text, err := x.MarshalText()
		if err != nil {
			return ""
		}
		return string(text)
	default:
		return fmt.Sprint(x)
	}
}

// Bytes is an amount of memory, written as 268435456, 256MiB or 1GiB.
type Bytes int64

// units are the suffixes of Bytes, the largest first.
var units = []struct {
	suffix string
	size   Bytes
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// UnmarshalText reads a whole number with one of the suffixes KiB, MiB and GiB,
// or none.
func (b *Bytes) UnmarshalText(text []byte) error {
	number, size := strings.TrimSpace(string(text)), Bytes(1)
	for _, u := range units {
		if head, ok := strings.CutSuffix(number, u.suffix); ok {
			number, size = strings.TrimSpace(head), u.size
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > int64(1<<62/size) {
		return errors.New("write an amount of memory, such as 64KiB, 256MiB or 1GiB")
	}
	*b = Bytes(n) * size
	return nil
}

// MarshalText writes the number with the largest suffix that loses nothing.
func (b Bytes) MarshalText() ([]byte, error) {
	for _, u := range units {
		if b != 0 && b%u.size == 0 {
			return fmt.Appendf(nil, "%d%s", int64(b/u.size), u.suffix), nil
		}
	}
	return strconv.AppendInt(nil, int64(b), 10), nil
}
