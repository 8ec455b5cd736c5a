package publish

import (
	"regexp"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/settings/options"
)

const (
	// poll is how often it is looked for minutes that are due.
	poll = 10 * time.Second
	// lease is how long other reporters wait for one that writes and does not renew its
	// lease.
	lease = 2 * time.Minute
	// delay is how long after its end a minute is written: samples are counted some
	// seconds after their requests.
	delay = time.Minute
	// backlog is how far a minute may lie back that could not be written before. CloudWatch
	// takes two weeks, but alarms look at the last minutes.
	backlog = 15 * time.Minute
	// callTimeout bounds the writing of a Region's metrics, retries included.
	callTimeout = 30 * time.Second
	// maxData is how many data one PutMetricData may have.
	maxData = 1000
)

// Price is the monthly cost of a metric, in US dollars, for the first 10,000 of an
// account; PutMetricData itself costs a cent for 1,000 calls. Source: Amazon CloudWatch
// pricing, custom metrics.
const Price = 0.30

// Config chooses the metrics that are written to CloudWatch. A zero field takes its
// default.
type Config struct {
	// Namespace is where the metrics are.
	Namespace string
	// MonthlyCost is the budget of the metrics in a month, in US dollars; the calmest
	// tables beyond it have no metrics.
	MonthlyCost float64
}

// Default returns the defaults of Config.
func Default() Config { return Config{Namespace: "Keyheat", MonthlyCost: 50} }

// namespaces matches the names that CloudWatch accepts.
var namespaces = regexp.MustCompile(`^[A-Za-z0-9.\-_/#:]{1,255}$`)

// Validate returns everything that is wrong with a configuration.
func (c Config) Validate() error {
	c = options.OrDefault(c, Default())
	var faults options.Faults
	faults.Check(!namespaces.MatchString(c.Namespace) || strings.HasPrefix(c.Namespace, ":"),
		"the namespace %q: give up to 255 letters, digits and . - _ / # :", c.Namespace)
	faults.Check(strings.HasPrefix(c.Namespace, "AWS/"), "the namespace %q: those that begin with AWS/ are AWS's own", c.Namespace)
	faults.Check(c.MonthlyCost < 0, "a monthly cost of %g: give US dollars, such as 50", c.MonthlyCost)
	return faults.Err()
}

// Tables returns of how many tables and indexes the metrics are written, at most.
func (c Config) Tables() int {
	c = options.OrDefault(c, Default())
	return max(0, int((c.MonthlyCost/Price-1)/float64(len(ofTable))))
}

// CostOf returns the highest monthly cost of the metrics of one table, or index, in US
// dollars.
func CostOf() float64 { return Price * float64(len(ofTable)) }
