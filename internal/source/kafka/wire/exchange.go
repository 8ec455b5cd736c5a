// Package wire holds what Keyheat adds to kafka-go's connections: requests that kafka-go
// does not know, the messages that members of a consumer group send each other, and
// credentials that change while connections are open.
//
// kafka-go ends at Metadata 8 and Fetch 11, where topics have names only. kmsg encodes the
// requests at the newest version that the broker offers. They use kafka-go's connections:
// pooled, with TLS and SASL done. kmsg decodes the responses.
package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// correlation is the id of every request: a connection carries one exchange at
// a time, so that any constant identifies a stray response.
const correlation = 0x6b68 // "kh"

// Limits of responses in bytes.
const (
	// MaxMetadata bounds a metadata response.
	MaxMetadata = 16 << 20
	// MaxGroup bounds a response of a group's coordinator: about 5,000 members, or 250,000
	// partitions of one member. kmsg allocates up to about 100 times the size of a hostile one.
	MaxGroup = 1 << 20
	// maxVersions bounds the response to ApiVersions.
	maxVersions = 1 << 20
)

// exchange sends one request on a connection that nothing else uses, and decodes its
// response of at most limit bytes.
func exchange(rw io.ReadWriter, clientID string, request kmsg.Request, limit int) (kmsg.Response, error) {
	body, _, err := Bytes(rw, clientID, request, func(n int) ([]byte, error) {
		if n > limit {
			return nil, &TooLargeError{n, limit}
		}
		return make([]byte, n), nil
	})
	if err != nil {
		return nil, err
	}
	response := request.ResponseKind()
	if err := response.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("%s response: %w", kmsg.NameForKey(request.Key()), err)
	}
	return response, nil
}

// Bytes sends one request, and returns the undecoded response without its header. buffer
// returns a buffer for a response of n bytes; buf is that buffer, and holds body.
func Bytes(rw io.ReadWriter, clientID string, request kmsg.Request, buffer func(n int) ([]byte, error)) (body, buf []byte, err error) {
	format := kmsg.NewRequestFormatter(kmsg.FormatterClientID(clientID))
	name := kmsg.NameForKey(request.Key())
	if _, err := rw.Write(format.AppendRequest(nil, request, correlation)); err != nil {
		return nil, nil, fmt.Errorf("send %s request: %w", name, err)
	}
	if buf, err = readResponse(rw, buffer); err != nil {
		return nil, nil, fmt.Errorf("read %s response: %w", name, err)
	}
	if body, err = Body(buf, request); err != nil {
		return nil, nil, fmt.Errorf("%s response: %w", name, err)
	}
	return body, buf, nil
}

// readResponse reads one whole response, without its size.
func readResponse(r io.Reader, buffer func(n int) ([]byte, error)) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	buf, err := buffer(int(binary.BigEndian.Uint32(size[:])))
	if err != nil {
		return nil, err
	}
	_, err = io.ReadFull(r, buf)
	return buf, err
}

// TooLargeError is a response over its limit.
type TooLargeError struct{ Size, Limit int }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%d bytes exceed the limit of %d", e.Size, e.Limit)
}

// Body checks a response's header and cuts it off. A response to ApiVersions never has tags
// in its header, because its client does not know the versions yet.
func Body(buf []byte, request kmsg.Request) ([]byte, error) {
	if len(buf) < 4 {
		return nil, io.ErrUnexpectedEOF
	}
	if id := binary.BigEndian.Uint32(buf); id != correlation {
		return nil, fmt.Errorf("it is of another request (id %d)", int32(id))
	}
	buf = buf[4:]
	if !request.IsFlexible() || request.Key() == kmsg.ApiVersions.Int16() {
		return buf, nil
	}
	tags, n := binary.Uvarint(buf)
	if n <= 0 || tags != 0 {
		return nil, fmt.Errorf("its header has %d tags, want none", tags)
	}
	return buf[n:], nil
}

// Versions caches the API versions that brokers offer, once a connection: an upgraded
// broker closes its connections. A connection's local address is its key.
type Versions struct {
	known sync.Map // connection to the newest version of each API, a map[int16]int16
}

// Newest returns the newest version of an API that the connection's broker offers; negative
// for none.
func (v *Versions) Newest(rw io.ReadWriter, clientID string, key int16) (int16, error) {
	name := rw.(net.Conn).LocalAddr().String() // a connection of kafka-go's is a net.Conn
	known, ok := v.known.Load(name)
	if !ok {
		response, err := exchange(rw, clientID, kmsg.NewPtrApiVersionsRequest(), maxVersions)
		if err != nil {
			return 0, err
		}
		versions := make(map[int16]int16)
		for _, k := range response.(*kmsg.ApiVersionsResponse).ApiKeys {
			versions[k.ApiKey] = k.MaxVersion
		}
		v.known.Store(name, versions)
		known = versions
	}
	if newest, ok := known.(map[int16]int16)[key]; ok {
		return newest, nil
	}
	return -1, nil
}

// Forget drops the versions of a closed connection: the next one may have its address.
func (v *Versions) Forget(c net.Conn) { v.known.Delete(c.LocalAddr().String()) }

// Call is one small request, at the newest version that both sides speak.
type Call struct {
	Versions *Versions
	ClientID string
	Request  kmsg.Request
	Newest   int16 // version of the request
	Limit    int   // of the response, in bytes
}

// Response is the response to a Call.
type Response struct{ kmsg.Response }

// ApiKey names the API; kafka-go's spelling.
func (c *Call) ApiKey() protocol.ApiKey { return protocol.ApiKey(c.Request.Key()) }

// ApiKey names the API; kafka-go's spelling.
func (r *Response) ApiKey() protocol.ApiKey { return protocol.ApiKey(r.Key()) }

// Required accepts every exchange.
func (*Call) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange implements protocol.RawExchanger.
func (c *Call) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	offered, err := c.Versions.Newest(rw, c.ClientID, c.Request.Key())
	if err != nil {
		return nil, err
	}
	if offered < 0 {
		return nil, fmt.Errorf("the broker does not know %s requests", kmsg.NameForKey(c.Request.Key()))
	}
	c.Request.SetVersion(min(offered, c.Newest))
	response, err := exchange(rw, c.ClientID, c.Request, c.Limit)
	if err != nil {
		return nil, err
	}
	return &Response{response}, nil
}

// GroupCall is a Call to the coordinator of a group.
type GroupCall struct {
	Call
	Name string // of the group
}

// Group routes the request to the coordinator of the group.
func (c *GroupCall) Group() string { return c.Name }

var (
	_ protocol.RawExchanger = (*Call)(nil)
	_ protocol.GroupMessage = (*GroupCall)(nil)
)
