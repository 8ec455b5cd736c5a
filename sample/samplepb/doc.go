// Package samplepb reads and writes samples as protobuf: a batch of many in one message
// (samples.proto), in which tables, callers and keys are said once. A collector decodes
// it several times as fast as Keyheat JSON, and it is a fraction of the size.
//
// The decoder is written by hand, because it hands out records without making a message
// of its own for each; tests hold it, and the encoder, to the schema.
package samplepb

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
