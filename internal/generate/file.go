package generate

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/keyheat/keyheat/sample/awssdk"
)

// Stdout is the path that means standard output.
const Stdout = "-"

// File writes NDJSON.
type File struct {
	awssdk.Sink
	// closers end the layers below the text, the upper first.
	closers []io.Closer
}

// CreateFile creates or truncates a file; Stdout writes to out and does
// not close it. A name that ends with .gz or .zst is compressed so.
func CreateFile(path string, out io.Writer) (*File, error) {
	f := &File{}
	if path != Stdout {
		file, err := os.Create(path)
		if err != nil {
			return nil, fmt.Errorf("write samples: %w", err)
		}
		out, f.closers = file, []io.Closer{file}
	}
	var packed io.WriteCloser
	var err error
	switch {
	case strings.HasSuffix(path, ".gz"):
		packed = gzip.NewWriter(out)
	case strings.HasSuffix(path, ".zst"):
		packed, err = zstd.NewWriter(out, zstd.WithEncoderConcurrency(1))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write samples to %s: %w", path, err), f.Close())
	}
	if packed != nil {
		out, f.closers = packed, append([]io.Closer{packed}, f.closers...)
	}
	f.Sink = awssdk.WriterSink(out)
	return f, nil
}

// Close ends the compression and the file.
func (f *File) Close() error {
	var failed error
	for _, c := range f.closers {
		failed = errors.Join(failed, c.Close())
	}
	if failed != nil {
		return fmt.Errorf("write samples: %w", failed)
	}
	return nil
}
