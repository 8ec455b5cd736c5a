// Package silence holds back the notifications of some incidents for a while: chosen by
// matchers, from one time to another, with an author and a reason. It follows
// Alertmanager's silences.
package silence

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// States returns the states of a silence in their order.
func States() []string {
	return []string{store.SilencePending, store.SilenceActive, store.SilenceExpired}
}

// The bounds of a silence.
const (
	maxMatchers = 16
	maxReason   = 1000
	// maxLength is about the longest time after which somebody should look again.
	maxLength = 366 * 24 * time.Hour
)

// Request is a silence as people ask for it.
type Request struct {
	Matchers []string `json:"matchers"`
	// StartsAt is a time in RFC 3339, or how long from now; now when empty.
	StartsAt string `json:"starts_at"`
	// EndsAt is a time in RFC 3339, or For is how long it lasts.
	EndsAt string `json:"ends_at"`
	For    string `json:"for"`
	Reason string `json:"reason"`
}

// Silence returns the requested silence, or the request's fault.
func (r Request) Silence(author string, now time.Time) (store.Silence, error) {
	s := store.Silence{StartsAt: now, Author: author, Reason: strings.TrimSpace(r.Reason)}
	var err error
	switch {
	case s.Reason == "":
		return s, errors.New("no reason: say why, for those who wonder")
	case len(s.Reason) > maxReason:
		return s, fmt.Errorf("a reason of %d bytes is too long: give at most %d", len(s.Reason), maxReason)
	case !IsLine(s.Reason):
		return s, errors.New("the reason is not one line of text")
	}
	if s.Matchers, err = normalise(r.Matchers); err != nil {
		return s, err
	}
	if r.StartsAt != "" {
		if s.StartsAt, err = instant(r.StartsAt, now); err != nil {
			return s, fmt.Errorf("start: %w", err)
		}
	}
	s.EndsAt, err = r.end(s.StartsAt)
	switch {
	case err != nil:
		return s, err
	case !s.EndsAt.After(now):
		return s, fmt.Errorf("the silence ends at %s, which is over: it is %s", s.EndsAt.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	case !s.EndsAt.After(s.StartsAt):
		return s, errors.New("the silence ends before it starts")
	case s.EndsAt.Sub(s.StartsAt) > maxLength || s.StartsAt.Sub(now) > maxLength:
		return s, errors.New("the silence starts or lasts beyond a year from now: give a shorter time")
	}
	return s, nil
}

func (r Request) end(start time.Time) (end time.Time, err error) {
	switch {
	case (r.EndsAt == "") == (r.For == ""):
		return end, errors.New("give how long the silence lasts, such as 2h, or when it ends: one of the two")
	case r.For != "":
		length, err := options.ParseDuration(r.For)
		if err != nil || length <= 0 {
			return end, fmt.Errorf("%.40q is no length of time: write 30m, 2h or 7d", r.For)
		}
		return start.Add(length), nil
	}
	if end, err = time.Parse(time.RFC3339, r.EndsAt); err != nil {
		err = fmt.Errorf("end: %.40q is no time: write 2026-11-22T18:00:00Z", r.EndsAt)
	}
	return end, err
}

func instant(text string, now time.Time) (time.Time, error) {
	if wait, err := options.ParseDuration(text); err == nil && wait >= 0 {
		return now.Add(wait), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		err = fmt.Errorf("%.40q is no time: write 2026-11-22T18:00:00Z, or 30m for in half an hour", text)
	}
	return at, err
}

// normalise returns matchers as they are stored, or why they may not be: an incident
// has to have something that a silence chooses it by, so that none silences all by
// accident.
func normalise(texts []string) (all []string, err error) {
	matchers, err := parse(texts)
	switch {
	case err != nil:
		return nil, err
	case len(matchers) == 0:
		return nil, errors.New("no matchers: say what to silence, such as table=orders")
	case !slices.ContainsFunc(matchers, func(m Matcher) bool { return !m.MatchesNothing() }):
		return nil, errors.New("this would silence whatever has none of it: add a matcher that empty text does not match, such as table=orders or severity=warning")
	}
	for _, m := range matchers {
		all = append(all, m.String())
	}
	return all, nil
}

func parse(texts []string) ([]Matcher, error) {
	if len(texts) > maxMatchers {
		return nil, fmt.Errorf("%d matchers are too many: give at most %d", len(texts), maxMatchers)
	}
	all := make([]Matcher, len(texts))
	for i, text := range texts {
		var err error
		if all[i], err = ParseMatcher(text); err != nil {
			return nil, fmt.Errorf("matcher %w", err)
		}
	}
	return all, nil
}

// Invalid is the fault of a request.
type Invalid struct{ error }

// Unwrap returns the fault.
func (i Invalid) Unwrap() error { return i.error }

// Add stores the silence that an author asks for, and returns it as it is stored. It
// fails with Invalid where the request is why.
func Add(ctx context.Context, st *store.Store, r Request, author string) (store.Silence, error) {
	now, err := st.Now(ctx)
	if err != nil {
		return store.Silence{}, err
	}
	s, err := r.Silence(author, now)
	if err != nil {
		return store.Silence{}, Invalid{err}
	}
	known, err := st.Targets(ctx)
	if err != nil {
		return store.Silence{}, err
	}
	if err := checkNames(s.Matchers, known); err != nil {
		return store.Silence{}, Invalid{err}
	}
	return st.AddSilence(ctx, s)
}

// checkNames returns an error, with the nearest name, for a table, index, account or Region
// that no sample had: its silence would hold back nothing.
func checkNames(texts []string, known []sample.Target) error {
	matchers, err := parse(texts)
	if err != nil {
		return err
	}
	var asked sample.Target
	for _, m := range matchers {
		if field := map[string]*string{"table": &asked.Table, "index": &asked.Index, "account": &asked.Account, "region": &asked.Region}[m.Name]; field != nil && m.Op == "=" {
			*field = m.Value
		}
	}
	err = options.CheckNames(asked, known)
	if unseen, is := errors.AsType[options.Unseen](err); is {
		return fmt.Errorf("%w (if it is yet to come, match %s=~%q)", err, unseen.What, regexp.QuoteMeta(unseen.Name))
	}
	return err
}

// Set are the silences of one moment.
type Set []compiled

type compiled struct {
	store.Silence
	matchers []Matcher
}

// NewSet returns silences as a set. Silences with an unreadable matcher are left out: the
// error names them.
func NewSet(active []store.Silence) (set Set, err error) {
	for _, s := range active {
		matchers, wrong := parse(s.Matchers)
		if wrong == nil && len(matchers) == 0 {
			wrong = errors.New("no matchers")
		}
		if wrong != nil {
			err = errors.Join(err, fmt.Errorf("silence %s: %w", s.ID, wrong))
			continue
		}
		set = append(set, compiled{s, matchers})
	}
	return set, err
}

// Cache makes sets, and compiles the matchers anew only when the silences have changed.
// The zero value has made none.
type Cache struct {
	from []store.Silence
	set  Set
	err  error
}

// Set returns silences as [NewSet] does.
func (c *Cache) Set(active []store.Silence) (Set, error) {
	if !slices.EqualFunc(active, c.from, same) {
		c.from = slices.Clone(active)
		c.set, c.err = NewSet(active)
	}
	return c.set, c.err
}

func same(a, b store.Silence) bool {
	return a.ID == b.ID && a.State == b.State && a.StartsAt.Equal(b.StartsAt) && a.EndsAt.Equal(b.EndsAt) &&
		a.Author == b.Author && a.Reason == b.Reason && slices.Equal(a.Matchers, b.Matchers)
}

// Match returns the silence of an incident with its root finding: of several the one that
// ends last; nil for none.
func (s Set) Match(i *detect.Incident, root *detect.Finding) *detect.Silenced {
	var last *store.Silence
	for n := range s {
		c := &s[n]
		chooses := !slices.ContainsFunc(c.matchers, func(m Matcher) bool { return !m.Matches(i, root) })
		if chooses && (last == nil || c.EndsAt.After(last.EndsAt)) {
			last = &c.Silence
		}
	}
	if last == nil {
		return nil
	}
	return &detect.Silenced{By: last.ID, Author: last.Author, Reason: last.Reason, Until: last.EndsAt}
}

// Has reports whether a silence is in the set.
func (s Set) Has(id string) bool {
	return slices.ContainsFunc(s, func(c compiled) bool { return c.ID == id })
}
