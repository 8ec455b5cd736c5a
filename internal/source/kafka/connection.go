package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/source/kafka/wire"
)

// metadataAge is how old the known leaders of partitions may be. kafka-go has
// no way to refresh them at need, and a stale leader costs its partition
// this long; the request names our topics only, so it is small.
const metadataAge = 2 * time.Second

// dialTimeout bounds one attempt to reach a broker.
const dialTimeout = 3 * time.Second

// connection reaches one cluster: kafka-go's pooled transport over network
// connections that we can close.
type connection struct {
	conns     conns
	versions  wire.Versions
	transport *kafka.Transport
	client    *kafka.Client
}

func newConnection(c Config) *connection {
	l := &connection{}
	l.conns.closedOne = l.versions.Forget
	l.transport = &kafka.Transport{
		Dial: l.conns.dial, DialTimeout: dialTimeout, ClientID: c.ClientID,
		MetadataTTL: metadataAge, MetadataTopics: c.Topics, SASL: c.SASL,
	}
	if c.TLS != nil {
		l.transport.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			raw, err := l.conns.dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return encrypt(ctx, raw, address, c.TLS())
		}
	}
	l.client = &kafka.Client{Addr: kafka.TCP(c.Brokers...), Transport: l.transport, Timeout: c.RequestTimeout}
	return l
}

// encrypt opens TLS with a configuration of its own. kafka-go has one for all connections,
// but certificates change.
func encrypt(ctx context.Context, raw net.Conn, address string, c *tls.Config) (net.Conn, error) {
	if c.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, errors.Join(err, raw.Close())
		}
		c = c.Clone()
		c.ServerName = host
	}
	encrypted := tls.Client(raw, c)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return encrypted, nil
}

// close ends every connection, even in the middle of a request.
func (l *connection) close() {
	l.transport.CloseIdleConnections()
	l.conns.close()
}

// missingTopics returns the topics that the cluster does not have.
func (l *connection) missingTopics(ctx context.Context, topics []string) (missing []string, err error) {
	res, err := l.client.Metadata(ctx, &kafka.MetadataRequest{Topics: topics})
	unreached, is := errors.AsType[*net.OpError](err)
	switch {
	case is && unreached.Op == "dial":
		return nil, fmt.Errorf("no broker answers: start one, or correct kafka.brokers: %w", unreached)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF): // how some brokers reject a client without TLS or SASL
		return nil, fmt.Errorf("no broker answers: it closed the connection; check the TLS and SASL settings: %w", withoutMethod(err))
	case err != nil:
		return nil, fmt.Errorf("no broker answers: %w", withoutMethod(err))
	}
	for _, t := range res.Topics {
		switch {
		case errors.Is(t.Error, kafka.UnknownTopicOrPartition):
			missing = append(missing, t.Name)
		case t.Error != nil:
			return nil, fmt.Errorf("topic %q: %w", t.Name, t.Error)
		}
	}
	slices.Sort(missing)
	return missing, nil
}

// withoutMethod removes the name of kafka-go's method from its error.
func withoutMethod(err error) error {
	if cause := errors.Unwrap(err); cause != nil && strings.HasPrefix(err.Error(), "kafka.(*Client).") {
		return cause
	}
	return err
}

// bounds returns the first offset of a partition and the offset after its last record.
func (l *connection) bounds(ctx context.Context, topic string, partition int) (first, end int64, err error) {
	res, err := l.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{
		Topics: map[string][]kafka.OffsetRequest{topic: {kafka.FirstOffsetOf(partition), kafka.LastOffsetOf(partition)}},
	})
	if err != nil {
		return 0, 0, fmt.Errorf("look up the bounds of the log: %w", withoutMethod(err))
	}
	for _, p := range res.Topics[topic] {
		if p.Partition != partition {
			continue
		}
		if p.Error != nil {
			return 0, 0, fmt.Errorf("look up the bounds of the log: %w", p.Error)
		}
		return p.FirstOffset, p.LastOffset, nil
	}
	return 0, 0, errors.New("look up the bounds of the log: the broker's response lacks the partition")
}

// partition identifies a partition of a topic.
type partition struct {
	topic string
	id    int
}

// String is the name by which the Sink knows the partition.
func (p partition) String() string { return fmt.Sprintf("%s/%d", p.topic, p.id) }

// leaders returns the ids of the brokers that lead the topics' partitions, as kafka-go
// knows them: this costs no request.
func (l *connection) leaders(ctx context.Context, topics []string) (map[partition]int, error) {
	res, err := l.client.Metadata(ctx, &kafka.MetadataRequest{Topics: topics})
	if err != nil {
		return nil, fmt.Errorf("look up leaders: %w", withoutMethod(err))
	}
	all := make(map[partition]int)
	for _, t := range res.Topics {
		for _, p := range t.Partitions {
			all[partition{t.Name, p.ID}] = p.Leader.ID
		}
	}
	return all, nil
}

// call makes a request to any broker.
func (l *connection) call(ctx context.Context, request kmsg.Request, newest int16) (kmsg.Response, error) {
	return l.roundTrip(ctx, l.newCall(request, newest, wire.MaxMetadata))
}

// callGroup makes a request to the coordinator of a group.
func (l *connection) callGroup(ctx context.Context, group string, request kmsg.Request, newest int16) (kmsg.Response, error) {
	return l.roundTrip(ctx, &wire.GroupCall{Call: *l.newCall(request, newest, wire.MaxGroup), Name: group})
}

func (l *connection) newCall(request kmsg.Request, newest int16, limit int) *wire.Call {
	return &wire.Call{Versions: &l.versions, ClientID: l.transport.ClientID, Request: request, Newest: newest, Limit: limit}
}

func (l *connection) roundTrip(ctx context.Context, m protocol.Message) (kmsg.Response, error) {
	response, err := l.transport.RoundTrip(ctx, l.client.Addr, m)
	if err != nil {
		return nil, err
	}
	return response.(*wire.Response).Response, nil
}

// conns are the open network connections. Closing them ends all waiting requests, and no
// new connection is opened afterwards.
type conns struct {
	mu     sync.Mutex
	open   map[*conn]struct{}
	closed bool
	// closedOne, if set, is called with each connection that its user closes.
	closedOne func(net.Conn)
}

type conn struct {
	net.Conn
	owner *conns
}

// Close implements net.Conn, and removes the connection from its set.
func (c *conn) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.open, c)
	c.owner.mu.Unlock()
	if c.owner.closedOne != nil {
		c.owner.closedOne(c.Conn)
	}
	return c.Conn.Close()
}

func (s *conns) dial(ctx context.Context, network, address string) (net.Conn, error) {
	raw, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.Join(net.ErrClosed, raw.Close())
	}
	if s.open == nil {
		s.open = make(map[*conn]struct{})
	}
	// Only exchange.Bytes reads more at a time than a record of TLS or a buffer of kafka-go's,
	// and all of that comes.
	c := &conn{Conn: wire.WakeOnce(raw), owner: s}
	s.open[c] = struct{}{}
	return c, nil
}

func (s *conns) close() {
	s.mu.Lock()
	open := s.open
	s.open, s.closed = nil, true
	s.mu.Unlock()
	for c := range open {
		_ = c.Conn.Close() // requests in flight fail
	}
}

func (l *connection) partitionCounts(ctx context.Context, topics []string) (map[string]int, error) {
	res, err := l.client.Metadata(ctx, &kafka.MetadataRequest{Topics: topics})
	if err != nil {
		return nil, fmt.Errorf("look up partitions: %w", withoutMethod(err))
	}
	counts := make(map[string]int)
	for _, t := range res.Topics {
		if t.Error == nil && len(t.Partitions) > 0 {
			counts[t.Name] = len(t.Partitions)
		}
	}
	return counts, nil
}

// codeError returns the error of a code; nil for none.
func codeError(code int16) error {
	if code == 0 {
		return nil
	}
	return kafka.Error(code)
}
