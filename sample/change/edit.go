package change

import (
	"slices"

	"github.com/keyheat/keyheat/sample"
)

// edit describes the effect of a change with whole images: the attributes that it set, changed
// or removed, and their bytes in the larger of both images.
func (c *itemChange) edit() *sample.Edit {
	e := &sample.Edit{Grown: c.new.Size() - c.old.Size()}
	for name, was := range c.old {
		now, kept := c.new[name]
		if kept && now.Equal(was) {
			continue
		}
		e.Attributes = append(e.Attributes, name)
		e.Changed += int64(len(name)) + max(was.Size(), now.Size())
	}
	for name, now := range c.new {
		if _, was := c.old[name]; !was {
			e.Attributes = append(e.Attributes, name)
			e.Changed += int64(len(name)) + now.Size()
		}
	}
	slices.Sort(e.Attributes)
	return e
}
