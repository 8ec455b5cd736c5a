package generate

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/keyheat/keyheat/sample"
)

// Stdout is the path that means standard output.
const Stdout = "-"

// fileBuffer is how much text is gathered before it is compressed or written.
const fileBuffer = 256 << 10

// File writes NDJSON.
type File struct {
	text *bufio.Writer
	// closers end the layers below the text, the upper first.
	closers []io.Closer
	line    []byte
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
	packed, err := compress(path, out)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write samples to %s: %w", path, err), f.Close())
	}
	if packed != nil {
		out, f.closers = packed, append([]io.Closer{packed}, f.closers...)
	}
	f.text = bufio.NewWriterSize(out, fileBuffer)
	return f, nil
}

// compress returns the compression by a file's name; nil for none.
func compress(path string, out io.Writer) (io.WriteCloser, error) {
	switch {
	case strings.HasSuffix(path, ".gz"):
		return gzip.NewWriter(out), nil
	case strings.HasSuffix(path, ".zst"):
		return zstd.NewWriter(out, zstd.WithEncoderConcurrency(1))
	}
	return nil, nil
}

// Write appends one line.
func (f *File) Write(_ context.Context, r *sample.Record) error {
	f.line = append(r.AppendJSON(f.line[:0]), '\n')
	if _, err := f.text.Write(f.line); err != nil {
		return fmt.Errorf("write samples: %w", err)
	}
	return nil
}

// Flush writes the buffered samples to the compression, or to the file.
func (f *File) Flush(context.Context) error {
	if err := f.text.Flush(); err != nil {
		return fmt.Errorf("write samples: %w", err)
	}
	return nil
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
