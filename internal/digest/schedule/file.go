package schedule

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/keyheat/keyheat/internal/digest"
)

// WriteFile writes a report to a file whole or not at all: who reads the folder never
// sees half of it.
func WriteFile(path string, p *digest.Report, f digest.Format) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".keyheat-*")
	if err != nil {
		return fmt.Errorf("write a report: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write a report: %w", err), os.Remove(file.Name()))
		}
	}()
	if err := errors.Join(p.Write(file, f), file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
