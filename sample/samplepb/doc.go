// Package samplepb reads and writes samples as protobuf: a batch of many in one message
// (samples.proto), in which tables, callers and keys are said once. A collector decodes
// it several times as fast as Keyheat JSON, and it is a fraction of the size.
//
// The decoder is written by hand, because it hands out records without making a message
// of its own for each; tests hold it, and the encoder, to the schema.
package samplepb

import "google.golang.org/protobuf/encoding/protowire"

// The numbers of the fields in samples.proto.
const (
	batchBase    = 1
	batchKinds   = 2
	batchKeys    = 3
	batchSamples = 4

	kindTable    = 1
	kindIndex    = 2
	kindAccount  = 3
	kindRegion   = 4
	kindOp       = 5
	kindRead     = 6
	kindCaller   = 7
	kindThrottle = 8
	kindRate     = 9

	keyString = 1
	keyNumber = 2
	keyBinary = 3
	keyParts  = 4

	sampleKind     = 1
	samplePK       = 2
	sampleSK       = 3
	sampleTime     = 4
	sampleRCU      = 5
	sampleWCU      = 6
	sampleBytes    = 7
	sampleN        = 8
	sampleCalls    = 9
	sampleAttempts = 10
	sampleWaited   = 11
	sampleFailed   = 12
	sampleCall     = 13
	sampleID       = 14
	sampleAttrs    = 15

	entryKey   = 1
	entryValue = 2
)

// The types of the fields in samples.proto. A field of another type is one that this schema
// does not know.
var (
	batchTypes  = typesOf(numbers{batchKinds, batchKeys, batchSamples}, numbers{batchBase}, nil)
	kindTypes   = typesOf(numbers{kindTable, kindIndex, kindAccount, kindRegion, kindCaller, kindThrottle}, numbers{kindOp, kindRead}, numbers{kindRate})
	keyTypes    = typesOf(numbers{keyString, keyNumber, keyBinary, keyParts}, nil, nil)
	sampleTypes = typesOf(numbers{sampleCall, sampleID, sampleAttrs},
		numbers{sampleKind, samplePK, sampleSK, sampleTime, sampleRCU, sampleWCU, sampleBytes, sampleN, sampleAttempts, sampleFailed}, numbers{sampleCalls, sampleWaited})
	entryTypes = typesOf(numbers{entryKey, entryValue}, nil, nil)
)

type numbers = []protowire.Number

// Bounds of a batch. Two bytes are enough to name an empty kind or key, each of which takes
// some hundred, and a sample costs no more to read than what it refers to: without them a
// small message makes a decoder large, or busy for minutes.
const (
	// MaxKinds is how many kinds a batch may have: one with more is broken.
	MaxKinds = 1 << 16
	// MaxKeys is how many keys a batch may have.
	MaxKeys = 1 << 18
	// MaxKindBytes is how large a kind may be.
	MaxKindBytes = 8 << 10
	// keptKinds and keptKeys are for how many the memory is kept, keptAttrs of how many
	// attributes of a sample.
	keptKinds, keptKeys, keptAttrs = 1 << 12, 1 << 14, 1 << 10
)
