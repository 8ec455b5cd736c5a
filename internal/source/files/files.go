// Package files reads samples from files and standard input, compressed or not,
// in every layout of JSON that holds them.
package files

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
)

// stdin is the path that means standard input.
const stdin = "-"

// zstdFileMemory bounds the window of a compressed file. Every decoder of streams must
// accept 8 MiB; zstd's "--long" needs 128 MiB.
const zstdFileMemory = 128 << 20

// Source reads samples from files, once, one after the other. It recognises plain files,
// gzip and zstd by their first bytes. A file holds NDJSON, an array, AWS's {"Records":[…]}
// around one, or objects that span lines. Each file is a partition named by its path, which
// is read from its beginning; its positions are offsets in the uncompressed text.
type Source struct {
	// Paths are the files; stdin ("-") is standard input. A folder stands for all files
	// below it, and a pattern such as *.json.gz for all matching files.
	Paths []string
	// In is standard input; nil is the process's own.
	In io.Reader
	// Remote, if set, reads the paths that it accepts. They are read last.
	Remote Remote
	// Progress, if set, shows how much of the local files is read.
	Progress io.Writer

	// repeated are the files with the same bytes as an earlier one, which are read once.
	repeated []string
	// most is how large a sample may be, in bytes; 0 is maxSample.
	most int
	// size is the local files' bytes on disk as far as they are known, and done the bytes
	// that were read.
	size int64
	done atomic.Int64
}

// Run reads every file to its end. If a file cannot be opened or has an unreadable form,
// Run fails before it counts any sample. A file that ends in the middle (a truncated gzip)
// is a gap. Only one file is open at a time: a trail has thousands.
func (f *Source) Run(ctx context.Context, sink source.Sink) error {
	local, remote := f.splitPaths()
	paths, err := expand(local)
	if err != nil {
		return err
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if path == stdin || err == nil && !info.Mode().IsRegular() {
			continue // a pipe can be opened once
		}
		file, err := f.open(path)
		if err != nil {
			return err
		}
		_ = file.Close() // read only: nothing can be lost
	}
	if paths, err = f.withoutRepeated(paths); err != nil {
		return err
	}
	f.done.Store(0) // the beginnings are read again
	if len(remote) > 0 {
		if err := f.Remote.Find(ctx, remote); err != nil {
			return err
		}
	}
	if err := f.readAll(ctx, paths, sink); err != nil || len(remote) == 0 {
		return err
	}
	return f.readRemote(ctx, remote, sink)
}

// readAll reads local files, and shows the progress if their size is known.
func (f *Source) readAll(ctx context.Context, paths []string, sink source.Sink) error {
	if f.Progress != nil && f.size > 0 {
		out := terminal.Progress{Out: f.Progress}
		defer out.Draw(ctx, terminal.TellEvery, f.progress)()
	}
	for _, path := range paths {
		if err := f.read(ctx, path, sink); err != nil {
			return err
		}
	}
	return nil
}

func (f *Source) progress() string {
	share := min(1, float64(f.done.Load())/float64(max(1, f.size)))
	return fmt.Sprintf("%.0f%% of the files is read", 100*share)
}

func (f *Source) read(ctx context.Context, path string, sink source.Sink) error {
	file, err := f.open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // read only
	if err := file.Run(ctx, sink); err != nil {
		return fmt.Errorf("read %s: %w", file.path, err)
	}
	return nil
}

// open opens a local file. Its error names the file.
func (f *Source) open(path string) (*file, error) {
	raw := io.NopCloser(f.In)
	if path != stdin {
		opened, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("open samples: %w", err)
		}
		raw = opened
	} else if f.In == nil {
		raw = io.NopCloser(os.Stdin)
	}
	file, err := newFile(path, &countingReader{raw, &f.done}, cmp.Or(f.most, maxSample))
	if err != nil {
		return nil, fmt.Errorf("open samples %s: %w", path, err)
	}
	return file, nil
}

type file struct {
	path string
	raw  io.Closer
	text io.ReadCloser
	most int // how large a sample may be
}

// newFile recognises the compression of a file. Its error explains why the file cannot be
// read.
func newFile(path string, raw io.ReadCloser, most int) (*file, error) {
	text, err := decompress(raw)
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	plain := bufio.NewReaderSize(text, 64<<10)
	head, _ := plain.Peek(magicSize) // the reader returns the error again
	for range maxPacked {
		if !bytes.HasPrefix(head, gzipMagic) && !bytes.HasPrefix(head, zstdMagic) {
			break
		}
		inner, err := decompress(plain) // compressed once more on its way
		if err != nil {
			return nil, errors.Join(err, text.Close(), raw.Close())
		}
		text = &textReader{inner, closers{inner, text}}
		plain = bufio.NewReaderSize(text, 64<<10)
		head, _ = plain.Peek(magicSize)
	}
	if wrong := checkForm(head); wrong != nil {
		return nil, errors.Join(wrong, text.Close(), raw.Close())
	}
	head, _ = plain.Peek(plain.Buffered())
	if bytes.IndexByte(head, '\r') >= 0 && bytes.IndexByte(head, '\n') < 0 {
		return &file{path, raw, &textReader{oldLines{plain}, text}, most}, nil
	}
	return &file{path, raw, &textReader{plain, text}, most}, nil
}

// maxPacked is how many times more a file may be compressed.
const maxPacked = 2

// oldLines reads lines that end with a carriage return alone, as old Macs wrote them.
type oldLines struct{ io.Reader }

func (o oldLines) Read(b []byte) (int, error) {
	n, err := o.Reader.Read(b)
	for i := range b[:n] {
		if b[i] == '\r' {
			b[i] = '\n'
		}
	}
	return n, err
}

// closers closes several.
type closers []io.Closer

func (c closers) Close() (err error) {
	for _, one := range c {
		err = errors.Join(err, one.Close())
	}
	return err
}

// textReader reads a file's text through a buffer.
type textReader struct {
	io.Reader
	io.Closer
}

// Close closes the file.
func (f *file) Close() error {
	return errors.Join(f.text.Close(), f.raw.Close())
}

// Run reads the file to its end, and releases it.
func (f *file) Run(ctx context.Context, sink source.Sink) (err error) {
	p, err := sink.Claim(ctx, source.Claim{Partition: f.path, First: "0"})
	if err != nil {
		return err
	}
	if err := f.read(ctx, p, newSplitter(f.text, f.most)); err != nil {
		return err
	}
	return p.Release(ctx)
}

func (f *file) read(ctx context.Context, p source.Partition, s *splitter) error {
	for {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, p.Release(context.WithoutCancel(ctx)))
		}
		m, err := s.next()
		position := strconv.FormatInt(s.at, 10)
		switch {
		case err == nil:
			err = p.Fold(ctx, source.Batch{Messages: singleMessage(m), Next: position, Bytes: len(m.Value)})
		case atEOF(err):
			return p.Fold(ctx, source.Batch{Next: position, End: true, Final: true})
		default:
			if err := p.Gap(ctx, sample.Gap{From: position, To: position, Reason: "the file ends early: " + err.Error()}); err != nil {
				return err
			}
			return p.Fold(ctx, source.Batch{Next: position, End: true, Final: true})
		}
		if err != nil {
			return err
		}
	}
}

func singleMessage(m source.Message) func(func(source.Message) bool) {
	return func(yield func(source.Message) bool) { yield(m) }
}

type countingReader struct {
	io.ReadCloser
	n *atomic.Int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// Magic numbers at the beginning of compressed files.
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// decompress returns the text of r. It reads ahead as little as possible, so that typed or
// piped samples count at once.
func decompress(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, 256<<10)
	head, err := b.Peek(len(zstdMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("it begins as gzip and is none, or is cut off: %w", err)
		}
		return z, nil
	case bytes.HasPrefix(head, zstdMagic):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdFileMemory))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return io.NopCloser(b), nil
}
