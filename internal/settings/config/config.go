// Package config fills a daemon's plain configuration struct from its layers: the
// defaults in the struct, YAML files over them, the environment over the files, and the
// command line's flags over all.
//
// Every field is documented in its struct and has one name in each layer, derived from
// its path:
//
//	type Kafka struct {
//		Brokers []string `yaml:"brokers" help:"host:port of some brokers"`
//	}
//	type Config struct {
//		Kafka Kafka `yaml:"kafka"`
//	}
//
//	kafka: {brokers: [a:9092]}        in the file
//	KEYHEAT_KAFKA_BROKERS=a:9092      in the environment, a list with commas
//	--kafka-brokers=a:9092            as a flag, see AddFlags
//
// It is strict. An unknown name is an error with its place and the nearest name; so is a
// value of the wrong kind, a repeated key, and an unknown KEYHEAT_ variable. All errors
// come at once. (yaml's own KnownFields stops earlier: it knows neither the nearest name
// nor the other layers, so the package walks the file itself.)
//
// A field of type Secret has a sibling with the suffix _file that names a file to read it
// from. It has no flag, because every user of a machine can read its command lines; the
// tag flag:"true" adds one for values that often hold no password, such as a database's
// URL.
//
// Only files fill a section with the tag layers:"file": it has neither variables nor
// flags.
//
// There is no global state, and the package reads nothing beyond Options.
package config

import (
	"github.com/spf13/pflag"
)

// EnvPrefix begins the name of every variable that is read.
const EnvPrefix = "KEYHEAT_"

// Options are the layers above a struct's own values. The zero value has none.
type Options struct {
	// Files are the paths of YAML files. A later file overrides an earlier one, field by
	// field, also within a map of sections.
	Files []string
	// Environ are "NAME=value" pairs, as os.Environ returns them. Variables
	// without the prefix KEYHEAT_ are ignored.
	Environ []string
	// Reserved are names that begin with KEYHEAT_ and are not a field's.
	// One that ends with _ stands for all that begin with it.
	Reserved []string
	// Flags are AddFlags' flags, parsed. Only flags that were set count.
	Flags *pflag.FlagSet
}

// Checker is a configuration that checks its values once all layers are in.
type Checker interface {
	// Check adds every fault it finds. A fault in a field that already has one,
	// because its text could not be read, is dropped.
	Check(f *Faults)
}

// Replacer is a section that had more settings in an earlier version.
type Replacer interface {
	// Replacements returns what to write instead of each, by name.
	Replacements() map[string]string
}

// Load fills into, a pointer to a struct that holds the defaults. It returns
// [Faults] with everything that is wrong, in the order of the layers, or an
// error when a file could not be read. After an error into is half filled.
func Load(into any, o Options) error {
	f := newFields(into)
	for i, file := range o.Files {
		if err := f.readFile(file, fromFile+layer(i)); err != nil {
			return err
		}
	}
	f.readEnvironment(o.Environ, o.Reserved)
	f.readFlags(o.Flags)
	f.readSecrets("", f.root)
	if c, ok := into.(Checker); ok {
		c.Check(&f.faults)
	}
	return f.faults.err()
}

// layer numbers where a value came from: a later one wins.
type layer int

const (
	fromDefault layer = iota
	fromFile          // the first file; each next one is one more
)

const (
	fromEnvironment = fromFile + maxFiles + iota
	fromFlag
)

// maxFiles is more files than anybody gives.
const maxFiles = 1 << 20

// origin is where a value stands, in words and by its layer.
type origin struct {
	layer layer
	text  string
}

// set fills a field with the text at an origin.
func (f *fields) set(l *leaf, at origin, text string) {
	f.claim(l, at)
	if err := setText(l.value, text); err != nil {
		f.faults.bad(l.path, "%s: %s %q: %w", at.text, l.path, display(l, text), err)
	}
}

// claim notes where a field's value stands. A secret and its file are one
// setting: the one in a higher layer clears the other.
func (f *fields) claim(l *leaf, at origin) {
	f.faults.origins[l.path] = at.text
	l.set = at
	twin := f.twin(l)
	switch {
	case twin == nil || twin.set.layer == fromDefault:
	case twin.set.layer < at.layer:
		twin.value.SetZero()
		twin.set = origin{}
	default:
		f.faults.bad(l.path, "%s: both %s and %s are set: give one", at.text, twin.path, l.path)
	}
}

// twin returns the _file of a secret, or the secret of a _file.
func (f *fields) twin(l *leaf) *leaf {
	for _, other := range f.leaves {
		if l.secret && other.path == l.path+fileSuffix || other.secret && l.path == other.path+fileSuffix {
			return other
		}
	}
	return nil
}
