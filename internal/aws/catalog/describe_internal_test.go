package catalog

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// TestVectorIndexesAreKnown reads the vector indexes of a table, which have no keys.
func TestVectorIndexesAreKnown(t *testing.T) {
	t.Parallel()
	d := read(&types.TableDescription{VectorIndexes: []types.VectorIndexDescription{{IndexName: aws.String("by-text")}, {IndexName: aws.String("by-image")}}})
	if !slices.Equal(d.Facts.VectorIndexes, []string{"by-image", "by-text"}) || len(d.Facts.Indexes) > 0 {
		t.Errorf("facts %+v", d.Facts)
	}
	if !d.Facts.IsVector("by-text") || d.Facts.IsVector("by-date") || d.Facts.IsVector("") {
		t.Error("which index is a vector index is not known")
	}
}
