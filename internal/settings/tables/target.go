package tables

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/sample"
)

// errName has the forms of an entry's name. DynamoDB allows no slash in a table's name.
var errName = errors.New("write a table, Region/table or account/Region/table, such as orders, eu-west-1/orders or 123456789012/eu-west-1/orders")

// ParseName returns the table that an entry is about: of every account and Region,
// of one Region, or of one account and Region.
func ParseName(name string) (sample.Target, error) {
	parts := strings.Split(name, "/")
	var of sample.Target
	switch len(parts) {
	case 1:
		of.Table = parts[0]
	case 2:
		of.Region, of.Table = parts[0], parts[1]
	case 3:
		of.Account, of.Region, of.Table = parts[0], parts[1], parts[2]
	default:
		return of, errName
	}
	switch {
	case of.Table == "":
		return of, errName
	case len(parts) == 2 && options.IsAccount(of.Region):
		return of, fmt.Errorf("%s is an account without a Region: write account/Region/table", of.Region)
	case len(parts) > 1 && !options.IsRegion(of.Region):
		return of, fmt.Errorf("%q is no Region: %w", of.Region, errName)
	case len(parts) > 2 && !options.IsAccount(of.Account):
		return of, fmt.Errorf("%q is no account of 12 digits: %w", of.Account, errName)
	}
	return of, nil
}

// Names returns the tables and indexes that the settings name. Samples of an index may never
// come: it may be idle, or its load may follow from the table's.
func (t Tables) Names() (all []options.NamedSetting) {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		of, _ := ParseName(name) // Check has rejected names that are none
		all = append(all, options.NamedSetting{Path: "tables." + name, Target: of})
		for _, section := range []struct {
			path    string
			indexes []string
		}{
			{".indexes", slices.Sorted(maps.Keys(t[name].Indexes))}, {".lsis", t[name].LSIs}, {".vector_indexes", t[name].Vectors},
		} {
			for _, index := range section.indexes {
				of.Index = index
				all = append(all, options.NamedSetting{Path: "tables." + name + section.path, Target: of, Optional: true})
			}
		}
	}
	return all
}

// find returns the settings of a target's table; less specific entries fill the gaps. An
// entry of a Region or an account does not apply to a table without them.
func (t Tables) find(target sample.Target) (all Table, written bool) {
	names := sample.LookupNames(target)
	for _, name := range slices.Backward(names[:]) {
		if entry, is := t[name]; is && name != "" {
			all, written = entry.merge(all), true
		}
	}
	return all, written
}

// merge returns an entry with another's settings in its gaps.
func (t Table) merge(other Table) Table {
	if other.Indexes != nil {
		all := maps.Clone(other.Indexes)
		maps.Copy(all, t.Indexes)
		t.Indexes = all
	}
	t.Policy = options.OrDefault(t.Policy, other.Policy)
	return options.OrDefault(t, other)
}

// Targets returns the tables and indexes that are named.
func (t Tables) Targets() (all []sample.Target) {
	for _, n := range t.Names() {
		all = append(all, n.Target)
	}
	return all
}
