package schedule

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/keyheat/keyheat/internal/report"
)

// WriteFile writes a report to a file whole or not at all: who reads the folder never
// sees half of it.
func WriteFile(path string, p *report.Report, f report.Format) (err error) {
	// Reports name keys: the umask decides who reads them, and strangers never do.
	name := filepath.Join(filepath.Dir(path), ".keyheat-"+rand.Text())
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640) //nolint:gosec // the group reads it where the umask lets it
	if err != nil {
		return fmt.Errorf("write a report: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write a report: %w", err), os.Remove(file.Name()))
		}
	}()
	if err := errors.Join(p.Write(file, f), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
