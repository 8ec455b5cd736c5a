package web

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/keyheat/keyheat/internal/web/cursor"
)

// maxListed is the most that one answer lists.
const maxListed = 1000

// listLimit reads how many an address asks for.
func listLimit(values url.Values) (int, error) {
	text := values.Get("limit")
	if text == "" {
		return maxListed, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxListed {
		return 0, badRequest{fmt.Errorf("limit %q: give a number from 1 to %d", text, maxListed)}
	}
	return n, nil
}

// afterPlace reads the place at which a list continues, into a pointer's target.
func afterPlace(values url.Values, place any) error {
	text := values.Get(cursor.Parameter)
	if text == "" {
		return nil
	}
	if err := cursor.Read(text, place); err != nil {
		return badRequest{err}
	}
	return nil
}

// cut returns the first limit of a list, and the cursor behind them; nil at the end of the
// list.
func cut[T any](all []T, limit int, place func(*T) any) (page []T, next *string, err error) {
	if len(all) <= limit {
		return append([]T{}, all...), nil, nil
	}
	text, err := cursor.Text(place(&all[limit-1]))
	return all[:limit], &text, err
}

// listPlace is a place in a list that is loaded whole: the newest first, then by names.
type listPlace struct {
	At    time.Time
	Names []string
}

func (p listPlace) compare(o listPlace) int {
	if newer := o.At.Compare(p.At); newer != 0 {
		return newer
	}
	return slices.Compare(p.Names, o.Names)
}

// paginate returns the part of a whole list that an address asks for.
func paginate[T any](values url.Values, all []T, place func(*T) listPlace) (page []T, next *string, err error) {
	limit, err := listLimit(values)
	if err != nil {
		return nil, nil, err
	}
	var after listPlace
	if err := afterPlace(values, &after); err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(all, func(a, b T) int { return place(&a).compare(place(&b)) })
	if after.Names != nil {
		all = slices.DeleteFunc(all, func(v T) bool { return place(&v).compare(after) <= 0 })
	}
	return cut(all, limit, func(v *T) any { return place(v) })
}
