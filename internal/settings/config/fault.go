package config

import (
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/internal/settings/options"
)

// Faults is everything that is wrong with a configuration. As an error it is
// one fault a line.
type Faults struct {
	list []error
	// origins say where the value of a path stands.
	origins map[string]string
	// broken are paths whose value is already known to be wrong.
	broken map[string]bool
}

// Addf adds a fault of the field at a path such as "kafka.brokers". The message holds the
// cause and the remedy; the place of the field's value is put before it.
func (f *Faults) Addf(path, format string, args ...any) {
	if f.broken[path] {
		return
	}
	where := path
	if at := f.origins[path]; at != "" {
		where = at + ": " + path
	}
	f.list = append(f.list, fmt.Errorf("%s: "+format, append([]any{where}, args...)...))
}

// AddAll adds the faults of the fields of a section.
func (f *Faults) AddAll(section string, all []options.Fault) {
	for _, fault := range all {
		f.Addf(section+"."+fault.Field, "%w", fault.Err)
	}
}

// bad adds a fault of a value that could not be read.
func (f *Faults) bad(path, format string, args ...any) {
	f.list = append(f.list, fmt.Errorf(format, args...))
	if path != "" {
		f.broken[path] = true
	}
}

// Error lists the faults, one a line.
func (f *Faults) Error() string {
	lines := make([]string, len(f.list))
	for i, err := range f.list {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the faults one by one.
func (f *Faults) Unwrap() []error { return f.list }

// err returns f as an error, nil when there is no fault.
func (f *Faults) err() error {
	if len(f.list) == 0 {
		return nil
	}
	return f
}
