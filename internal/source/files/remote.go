package files

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
)

// Remote reads files from another place than this machine, such as a bucket of S3.
type Remote interface {
	// Names reports whether a path names files there.
	Names(path string) bool
	// Find looks for the files that paths stand for. It returns an error if there are none.
	Find(ctx context.Context, paths []string) error
	// Each opens the found files, one after the other, and returns the first error of read.
	// A body's error explains why the rest of one file could not be read. An error of Each
	// itself explains why it opens no more files, and how many remain.
	Each(ctx context.Context, read func(path string, body io.ReadCloser) error) error
}

func (f *Source) splitPaths() (local, remote []string) {
	if f.Remote == nil {
		return f.Paths, nil
	}
	local = slices.DeleteFunc(slices.Clone(f.Paths), f.Remote.Names)
	remote = slices.DeleteFunc(slices.Clone(f.Paths), func(path string) bool { return !f.Remote.Names(path) })
	return local, remote
}

// readRemote reads the files that Find has found, perhaps for hours. If the reading ends
// early, by ctx too, the rest is a gap. If no file was read, that is an error, unless ctx
// ended.
func (f *Source) readRemote(ctx context.Context, paths []string, sink source.Sink) error {
	opened := 0
	var failed error // from the sink
	err := f.Remote.Each(ctx, func(path string, body io.ReadCloser) error {
		defer func() { _ = body.Close() }() // read only
		opened++
		failed = readBody(ctx, path, body, sink)
		return failed
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil && (failed != nil || opened == 0):
		return err
	}
	return gap(context.WithoutCancel(ctx), sink, paths[0], err.Error())
}

// readBody reads one remote file. A file with an unreadable form is a gap: checking all
// files first would fetch each file twice.
func readBody(ctx context.Context, path string, body io.ReadCloser, sink source.Sink) error {
	file, err := newFile(path, body, maxSample)
	if err != nil {
		return gap(ctx, sink, path, err.Error())
	}
	if err := file.Run(ctx, sink); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// gap records why a partition is not read.
func gap(ctx context.Context, sink source.Sink, partition, reason string) error {
	p, err := sink.Claim(ctx, source.Claim{Partition: partition, First: "0"})
	if err != nil {
		return err
	}
	if err := p.Gap(ctx, sample.Gap{From: p.Position(), To: p.Position(), Reason: reason}); err != nil {
		return err
	}
	return p.Release(ctx)
}
