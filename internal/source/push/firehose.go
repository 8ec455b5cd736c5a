package push

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/sample/format"
)

// The headers of a delivery of Firehose. Source: Amazon Data Firehose Developer Guide, "HTTP
// endpoint delivery request and response specifications".
const (
	headerFirehoseRequest = "X-Amz-Firehose-Request-Id"
	headerFirehoseSource  = "X-Amz-Firehose-Source-Arn"
	headerFirehoseKey     = "X-Amz-Firehose-Access-Key"
	headerFirehoseVersion = "X-Amz-Firehose-Protocol-Version"
)

// AccessKeys lets Firehose in as other users come in: its access key is a user's name and password
// with a colon between them. It must be in front of whatever asks for passwords.
func AccessKeys(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get(headerFirehoseKey)
		if key == "" {
			h.ServeHTTP(w, r)
			return
		}
		var secret struct { // as AWS Secrets Manager holds it
			Key string `json:"api_key"`
		}
		if json.Unmarshal([]byte(key), &secret) == nil {
			key = secret.Key
		}
		r.Header.Del(headerFirehoseKey)
		if r.Header.Get("Authorization") == "" {
			r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(key)))
		}
		h.ServeHTTP(w, r)
	})
}

// firehose returns the handler of Firehose's deliveries.
func (s *Source) firehose() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := s.take(w, r, s.readFirehose)
		if response.body.isBroken() {
			response = *refuse(http.StatusBadRequest, "the body is no delivery of Firehose: it has no records")
		}
		s.responses.WithLabelValues(strconv.Itoa(response.status)).Inc()
		response.writeHeader(w, typeJSON)
		_ = json.NewEncoder(w).Encode(receipt{r.Header.Get(headerFirehoseRequest), time.Now().UnixMilli(), response.body.Error}) // who left sends it again
	})
}

// receipt is the response that Firehose demands: it takes any other as a failure.
type receipt struct {
	Request string `json:"requestId"`
	Time    int64  `json:"timestamp"`
	Error   string `json:"errorMessage,omitempty"`
}

func (s *Source) readFirehose(d *delivery, r *http.Request) *response {
	d.format = format.Firehose
	id := r.Header.Get(headerFirehoseRequest)
	switch version := r.Header.Get(headerFirehoseVersion); {
	case version != "1.0":
		return refuse(http.StatusBadRequest, headerFirehoseVersion+": only Firehose delivers here, in version 1.0; send samples to /v1/samples")
	case !isProducer.MatchString(id):
		return refuse(http.StatusBadRequest, headerFirehoseRequest+": the request has no id")
	case !s.mayDeliver(r.Header.Get(headerFirehoseSource)):
		return refuse(http.StatusForbidden, "http.firehose_sources does not name this stream: "+r.Header.Get(headerFirehoseSource))
	}
	// The same delivery may be compressed, or stamped, anew when it is sent again.
	d.setBrief("firehose:" + id)
	d.sequence, d.mark = 1, markOf([]byte(id))
	return nil
}

func (s *Source) mayDeliver(stream string) bool {
	return len(s.config.Sources) == 0 || slices.ContainsFunc(s.config.Sources, func(allowed string) bool {
		prefix, open := strings.CutSuffix(allowed, "*")
		return allowed == stream || open && strings.HasPrefix(stream, prefix)
	})
}
