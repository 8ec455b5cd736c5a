// Package options holds helpers of the components' Configs: defaults for zero fields, the
// collection of all faults, and lengths of time as operators write them.
package options

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"
)

// OrDefault returns a Config with its zero fields taken from the defaults. A field that is
// a struct is taken as a whole.
func OrDefault[Config any](c, defaults Config) Config {
	into, from := reflect.ValueOf(&c).Elem(), reflect.ValueOf(defaults)
	for i := range into.NumField() {
		if f := into.Field(i); f.CanSet() && f.IsZero() {
			f.Set(from.Field(i))
		}
	}
	return c
}

// Faults collects the faults of a Config.
type Faults struct{ all []error }

// Check adds a fault if something is bad.
func (f *Faults) Check(bad bool, format string, args ...any) {
	if bad {
		f.all = append(f.all, fmt.Errorf(format, args...))
	}
}

// Add adds an error, if there is one.
func (f *Faults) Add(err error) { f.all = append(f.all, err) }

// CheckPauses adds a fault for each time, by name, that is not from a millisecond to an
// hour.
func (f *Faults) CheckPauses(all map[string]time.Duration) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f.Check(all[name] < time.Millisecond || all[name] > time.Hour, "%s is %s: must be from 1ms to 1h", name, all[name])
	}
}

// Err returns all faults as one error; nil for none.
func (f *Faults) Err() error { return errors.Join(f.all...) }
