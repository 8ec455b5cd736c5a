// Package samplepb reads and writes samples as protobuf: a batch of many samples in one message
// (samples.proto), with each table, caller and key written once. A collector decodes it several
// times as fast as Keyheat JSON, and it is a fraction of the size.
//
// The decoder is written by hand, because it passes on records without allocating a message for
// each. Tests compare it and the encoder with the schema.
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

	sampleKind            = 1
	samplePK              = 2
	sampleSK              = 3
	sampleTime            = 4
	sampleRCU             = 5
	sampleWCU             = 6
	sampleBytes           = 7
	sampleN               = 8
	sampleCalls           = 9
	sampleAttempts        = 10
	sampleWaited          = 11
	sampleFailed          = 12
	sampleCall            = 13
	sampleID              = 14
	sampleAttrs           = 15
	sampleConflict        = 16
	sampleConditionFailed = 17

	entryKey   = 1
	entryValue = 2
)

// The wire types of the fields in samples.proto. A field of another type belongs to another
// schema and is skipped.
var (
	batchTypes  = typesOf(numbers{batchKinds, batchKeys, batchSamples}, numbers{batchBase}, nil)
	kindTypes   = typesOf(numbers{kindTable, kindIndex, kindAccount, kindRegion, kindCaller, kindThrottle}, numbers{kindOp, kindRead}, numbers{kindRate})
	keyTypes    = typesOf(numbers{keyString, keyNumber, keyBinary, keyParts}, nil, nil)
	sampleTypes = typesOf(numbers{sampleCall, sampleID, sampleAttrs},
		numbers{sampleKind, samplePK, sampleSK, sampleTime, sampleRCU, sampleWCU, sampleBytes, sampleN, sampleAttempts, sampleFailed, sampleConflict, sampleConditionFailed}, numbers{sampleCalls, sampleWaited})
	entryTypes = typesOf(numbers{entryKey, entryValue}, nil, nil)
)

type numbers = []protowire.Number

// Bounds of a batch. Two bytes can name an empty kind or key that takes some hundred bytes in
// memory. A sample costs as much to read as its kind and keys. Without bounds a small
// message could make a decoder large, or busy for minutes.
const (
	// MaxKinds is the most kinds of a batch. A batch with more is broken.
	MaxKinds = 1 << 16
	// MaxKeys is the most keys of a batch.
	MaxKeys = 1 << 18
	// MaxKindBytes is the largest kind in bytes.
	MaxKindBytes = 8 << 10
	// keptKinds, keptKeys and keptAttrs are the most kinds, keys, and attributes of a sample
	// that memory is kept for.
	keptKinds, keptKeys, keptAttrs = 1 << 12, 1 << 14, 1 << 10
)
