package files

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
)

// Remote is where files are that are not this machine's, such as a bucket of S3.
type Remote interface {
	// Names reports whether a path names files there.
	Names(path string) bool
	// Find looks for the files that paths stand for. Its error says why there is nothing
	// to read.
	Find(ctx context.Context, paths []string) error
	// Each opens what was found, one file after the other, and returns the first error of
	// read. A body's error says why the rest of one file could not be read. An error of
	// Each's own says why it opens no more, and how many files that leaves.
	Each(ctx context.Context, read func(path string, body io.ReadCloser) error) error
}

// splitPaths returns the paths of this machine's files, and those of the remote ones.
func (f *Source) splitPaths() (local, remote []string) {
	if f.Remote == nil {
		return f.Paths, nil
	}
	local = slices.DeleteFunc(slices.Clone(f.Paths), f.Remote.Names)
	remote = slices.DeleteFunc(slices.Clone(f.Paths), func(path string) bool { return !f.Remote.Names(path) })
	return local, remote
}

// readRemote reads what Find has found. There may be hours of it: what ends the reading
// early, ctx too, is a gap behind what was read. Where nothing was read it is an error,
// unless ctx ended.
func (f *Source) readRemote(ctx context.Context, paths []string, sink source.Sink) error {
	opened := 0
	var failed error // of the sink
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

// readBody reads one remote file. One whose form cannot be read is a gap: to look at all
// of them first would be to fetch each twice.
func readBody(ctx context.Context, path string, body io.ReadCloser, sink source.Sink) error {
	file, err := newFile(path, body, 0)
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
