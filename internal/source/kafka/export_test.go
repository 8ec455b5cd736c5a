package kafka

import "github.com/twmb/franz-go/pkg/kmsg"

// TestTopicID is the id of the topic in responses given to ParseFetch.
var TestTopicID = topicID{1, 2, 3}

// ParseFetch lets a fuzz target reach the decoder of fetch responses, which no
// server can be made to send in every form.
func ParseFetch(buf []byte, version int16) (records []byte, err error) {
	response := &kmsg.FetchResponse{Version: version}
	body, err := responseBody(buf, response)
	if err == nil {
		err = response.ReadFrom(body)
	}
	if err != nil {
		return nil, err
	}
	res, err := (&fetchRequest{topic: "samples", id: TestTopicID}).answer(response, buf)
	if err != nil {
		return nil, err
	}
	return res.RecordBatches, nil
}
