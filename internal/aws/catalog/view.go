package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
)

// String describes a table in a sentence.
func (t Table) String() string {
	keys := "partition key " + strings.Join(t.Facts.PartitionKey, ", ")
	if len(t.Facts.SortKey) > 0 {
		keys += ", sort key " + strings.Join(t.Facts.SortKey, ", ")
	}
	return fmt.Sprintf("the table exists (%s), with the %s and %d global indexes",
		strings.ToLower(strings.ReplaceAll(t.Facts.Billing, "_", " ")), keys, len(t.Facts.Indexes))
}

// StreamView describes the stream's view type. A narrow view type is only a warning,
// unless an index needs more.
func (t Table) StreamView() (string, error) {
	f := t.Facts
	loads := "the write units"
	if len(f.Indexes) > 0 {
		loads = "the write units, and the load on its global indexes,"
	}
	switch {
	case f.Stream == "NEW_AND_OLD_IMAGES":
		return "its stream shows new and old images: every write unit is known", nil
	case f.Stream == "":
		return "", errors.New("it has no enabled stream: enable one with NEW_AND_OLD_IMAGES")
	case f.Stream == "KEYS_ONLY":
		return lacking(f, "its stream shows keys only: writes are counted, %s are unknown; choose NEW_AND_OLD_IMAGES to see them", loads)
	case slices.Contains([]string{"NEW_IMAGE", "OLD_IMAGE"}, f.Stream):
		return lacking(f, "its stream shows one image only (%[2]s): %[1]s of updates are a lower bound; choose NEW_AND_OLD_IMAGES to see all of them", loads, f.Stream)
	}
	return "", fmt.Errorf("its stream has the unknown view type %q", f.Stream)
}

// lacking returns a warning, or an error if the table has indexes, which such a stream
// cannot show.
func lacking(f detect.TableFacts, format string, args ...any) (string, error) {
	text := fmt.Sprintf(format, args...)
	if len(f.Indexes) > 0 {
		return "", errors.New(text)
	}
	return text, nil
}
