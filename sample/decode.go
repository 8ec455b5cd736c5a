package sample

// Handler takes what a Decoder finds in a message.
type Handler interface {
	// Record takes one good sample. It is valid until Record returns.
	Record(r *Record)
	// Bad takes one bad sample: why, and a short raw prefix of it, which is
	// valid until Bad returns and may hold personal data.
	Bad(reason Reason, excerpt []byte)
}

// Decoder reads Keyheat JSON. It is for one goroutine, and to be reused.
type Decoder struct {
	rec Record
}

// NewDecoder returns a ready Decoder.
func NewDecoder() *Decoder { return &Decoder{} }

// Decode reads every record in one message: one object, an array, or NDJSON.
// at is the message's own time in Unix milliseconds, which a record without
// ts takes; with at 0 such a record is a bad sample.
func (d *Decoder) Decode(message []byte, at int64, h Handler) {
	h.Bad(ReasonSyntax, message)
}
