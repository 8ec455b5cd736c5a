package verdict

import (
	"testing"

	"github.com/keyheat/keyheat/detect/board"
)

// TestCheckpointVersion: a checkpoint of another shape has another version, so that no judge reads
// what it does not understand. When this fails, raise CheckpointVersion and write the new shapes
// here.
func TestCheckpointVersion(t *testing.T) {
	t.Parallel()
	type shapes struct{ memory, progress string }
	got := shapes{board.CheckpointShape(new(board.Memory)), board.CheckpointShape(new(progress))}
	if want := map[int]shapes{4: {"18ed596a09a01b04", "4df4a7ae302d142d"}}[CheckpointVersion]; got != want {
		t.Errorf("version %d has the shapes %+v, want %+v", CheckpointVersion, got, want)
	}
}
