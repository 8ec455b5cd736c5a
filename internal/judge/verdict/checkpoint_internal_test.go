package verdict

import (
	"testing"

	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/checkpoint"
)

// TestCheckpointVersion: a checkpoint of another shape has another version, so that no judge reads
// what it does not understand. When this fails, raise CheckpointVersion and write the new shapes
// here.
func TestCheckpointVersion(t *testing.T) {
	t.Parallel()
	type shapes struct{ memory, progress string }
	got := shapes{checkpoint.Shape(new(board.Memory)), checkpoint.Shape(new(progress))}
	if want := map[int]shapes{3: {"2e0ed953125d2c64", "3761ea798fff89ec"}}[CheckpointVersion]; got != want {
		t.Errorf("version %d has the shapes %+v, want %+v", CheckpointVersion, got, want)
	}
}
