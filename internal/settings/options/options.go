// Package options holds helpers of the components' Configs: defaults for zero fields, the
// collection of all faults, lengths of time as operators write them, and the names of
// tables and indexes that people write.
package options

import (
	"errors"
	"fmt"
	"reflect"
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

// Fault is what is wrong with one field of a Config.
type Fault struct {
	Field string
	Err   error
}

func (f Fault) Error() string { return f.Field + ": " + f.Err.Error() }

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

// Err returns all faults as one error; nil for none.
func (f *Faults) Err() error { return errors.Join(f.all...) }
