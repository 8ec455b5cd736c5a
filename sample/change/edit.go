package change

import (
	"slices"

	"github.com/keyheat/keyheat/sample"
)

// edit describes the effect of a change with whole images: the attributes that it set, changed
// or removed, and their bytes in the larger of both images.
func (c *Change) edit() *sample.Edit {
	e := &sample.Edit{Grown: c.New.Size() - c.Old.Size()}
	for name, was := range c.Old {
		now, kept := c.New[name]
		if kept && now.Equal(was) {
			continue
		}
		e.Attributes = append(e.Attributes, name)
		e.Changed += int64(len(name)) + max(was.Size(), now.Size())
	}
	for name, now := range c.New {
		if _, was := c.Old[name]; !was {
			e.Attributes = append(e.Attributes, name)
			e.Changed += int64(len(name)) + now.Size()
		}
	}
	slices.Sort(e.Attributes)
	return e
}
