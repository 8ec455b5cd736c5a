package kafka

// ParseFetch lets a fuzz target reach the decoder of fetch responses, which no
// server can be made to send in every form.
func ParseFetch(buf []byte, version int16) (records []byte, err error) {
	res, err := parseFetch(buf, version, "samples", 0)
	if err != nil {
		return nil, err
	}
	return res.records, nil
}
