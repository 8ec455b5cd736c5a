package address

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
)

// After is the name that a cursor has in addresses.
const After = "after"

var errForeign = errors.New(After + ": this is no place of the list, take the one that the page before gives")

func write(place any) (string, error) {
	body, err := json.Marshal(place)
	return base64.RawURLEncoding.EncodeToString(body), err
}

// read reads a place into a pointer's target. For text that [write] did not write it
// returns [errForeign].
func read(text string, place any) error {
	body, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(body, place) != nil {
		return errForeign
	}
	return nil
}

// BadRequest is an error of the client.
type BadRequest struct{ Err error }

func (b BadRequest) Error() string { return b.Err.Error() }
func (b BadRequest) Unwrap() error { return b.Err }

const maxListed = 1000

// ReadLimit reads how many an address asks for.
func ReadLimit(values url.Values) (int, error) {
	return ReadNumber(values, "limit", maxListed, maxListed)
}

// ReadNumber reads a number from 1 on.
func ReadNumber(values url.Values, name string, byDefault, most int) (int, error) {
	text := values.Get(name)
	if text == "" {
		return byDefault, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, BadRequest{Err: fmt.Errorf("%s %q: give a number from 1 to %d", name, text, most)}
	}
	return n, nil
}

// ReadTarget reads a table or index.
func ReadTarget(values url.Values) sample.Target {
	return sample.Target{Account: values.Get("account"), Region: values.Get("region"), Table: values.Get("table"), Index: values.Get("index")}
}

// OneOf returns an error for a word that is not among the known ones; nil for the empty one.
func OneOf[T ~string](name, word string, known []T) error {
	if word == "" || slices.Contains(known, T(word)) {
		return nil
	}
	return BadRequest{Err: fmt.Errorf("%s %q: give one of %s", name, word, strings.Join(wording.Names(known), ", "))}
}

// ReadAfter reads the place at which a list continues, into a pointer's target.
func ReadAfter(values url.Values, place any) error {
	text := values.Get(After)
	if text == "" {
		return nil
	}
	if err := read(text, place); err != nil {
		return BadRequest{Err: err}
	}
	return nil
}

// Cut returns the first limit of a list, and the cursor behind them; nil at the end of the
// list.
func Cut[T any](all []T, limit int, place func(*T) any) (page []T, next *string, err error) {
	if len(all) <= limit {
		return append([]T{}, all...), nil, nil
	}
	text, err := write(place(&all[limit-1]))
	return all[:limit], &text, err
}

// Place is a place in a list that is loaded whole: the newest first, then by names. It holds
// the values that the list is ordered by, not a number, so that the next page continues
// correctly while rows come and go.
type Place struct {
	At    time.Time
	Names []string
}

// Compare orders places.
func (p Place) Compare(o Place) int {
	if newer := o.At.Compare(p.At); newer != 0 {
		return newer
	}
	return slices.Compare(p.Names, o.Names)
}

// Paginate returns the part of a whole list that an address asks for.
func Paginate[T any](values url.Values, all []T, place func(*T) Place) (page []T, next *string, err error) {
	limit, err := ReadLimit(values)
	if err != nil {
		return nil, nil, err
	}
	var after *Place
	if err := ReadAfter(values, &after); err != nil {
		return nil, nil, err
	}
	return Page(all, limit, after, place)
}

// Page returns the part of a whole list behind a place, nil for its beginning, in the order
// of places, and the cursor behind that part; nil at the end of the list.
func Page[T any, P interface{ Compare(P) int }](all []T, limit int, after *P, place func(*T) P) (page []T, next *string, err error) {
	slices.SortStableFunc(all, func(a, b T) int { return place(&a).Compare(place(&b)) })
	if after != nil {
		all = slices.DeleteFunc(all, func(v T) bool { return place(&v).Compare(*after) <= 0 })
	}
	return Cut(all, limit, func(v *T) any { return place(v) })
}
