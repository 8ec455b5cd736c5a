package recordbatch

// MaxChunk is the most records of one Chunk.
const MaxChunk = maxChunk
