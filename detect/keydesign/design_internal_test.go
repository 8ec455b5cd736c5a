package keydesign

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
)

// TestDesigns is the story table of the verdicts on key designs. The examples
// and their order are those of DYNAMODB.md, "Key design verdicts" and "Shards".
func TestDesigns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                       string
		distinct, effective, share float64
		burst                      float64
		template                   string
		newest, reads, index       bool
		peak                       float64 // write units; 1,000 when 0
		fits                       float64 // 1 when 0
		other, otherHottest        string
		peers                      []string
		want                       detect.DesignVerdict
		says                       string
	}{
		{name: "user id", distinct: 100_000, effective: 60_000, share: 0.001, template: "user#<id>",
			want: detect.DesignExcellent, says: "100,000 keys like user#<id>"},
		{name: "user id with bursts", distinct: 76_000, effective: 240, share: 0.008, burst: 1.88, template: "user#<id>",
			want: detect.DesignWatch, says: "one had 188% of a partition's limit in a single second"},
		{name: "user id up to the limit", distinct: 76_000, effective: 240, share: 0.008, burst: 1, template: "user#<id>",
			want: detect.DesignExcellent, says: "none has 1%"},
		{name: "a uuid", distinct: 1e6, effective: 1e6, template: "<uuid>",
			want: detect.DesignExcellent, says: "none has 1%"},
		{name: "device id: power users", distinct: 20_000, effective: 900, share: 0.03, template: "device#<id>",
			want: detect.DesignGood, says: "the largest with 3% of the write units: watch it for power users"},
		{name: "customer id, of which there are some hundreds", distinct: 600, effective: 400, share: 0.005, template: "customer#<id>",
			want: detect.DesignGood, says: "the largest with 0.5%"},
		{name: "order id, used as they come", distinct: 50_000, effective: 30_000, template: "order#<id>", newest: true,
			want: detect.DesignGood, says: "placement is by hash, so that alone does no harm"},
		{name: "tenant id with one giant tenant", distinct: 2_000, effective: 6, share: 0.4, template: "tenant#<id>",
			want: detect.DesignWatch, says: "has 40% of the write units: with that share it alone fills a partition at about 2,500 write units a second of all keys together, while each key is in one partition."},
		{name: "two giants", distinct: 2_000, effective: 3, share: 0.44, template: "tenant#<id>", other: "acme", peers: []string{"“globex”"},
			want: detect.DesignWatch, says: "has 44% of the write units, and “globex” about as much: with that share each alone fills a partition at about 2,270 write units"},
		{name: "a giant that is more than all others", distinct: 2_000, effective: 1.5, share: 0.8, template: "tenant#<id>",
			want: detect.DesignPoor, says: "it alone fills a partition at about 1,250 write units"},
		{name: "date", distinct: 30, effective: 1, share: 1, template: "<date>",
			want: detect.DesignPoor, says: "the current one takes 100% of the write units, and its successor will too"},
		{name: "hour under a word", distinct: 200, effective: 1.1, share: 0.97, template: "events#<hour>",
			want: detect.DesignPoor, says: "events#<hour> is a time"},
		{name: "timestamps that are read at random", distinct: 50_000, effective: 9_000, template: "<time>",
			want: detect.DesignExcellent, says: "50,000 keys like <time>"},
		{name: "country", distinct: 40, effective: 5, share: 0.4, template: "<word>",
			want: detect.DesignVeryPoor, says: "Only 40 values, and the list does not grow with the traffic: they carry at most 40,000 write units a second, and with 40% on one of them that one alone fills a partition at about 2,500 write units a second of all keys together"},
		{name: "status with 80% on one value", distinct: 4, effective: 1.5, share: 0.8, template: "<word>",
			want: detect.DesignVeryPoor, says: "with 80% on one of them that one alone fills a partition at about 1,250"},
		{name: "five status values, evenly used", distinct: 5, effective: 5, share: 0.2, template: "<word>",
			want: detect.DesignVeryPoor, says: "they carry at most 5,000 write units a second, while each key is in one partition."},
		{name: "a status after a word", distinct: 5, effective: 4, share: 0.25, template: "status#<word>",
			want: detect.DesignVeryPoor, says: "Only 5 values"},
		{name: "a boolean", distinct: 2, effective: 1.9, share: 0.6, template: "<number>",
			want: detect.DesignVeryPoor, says: "they carry at most 2,000 write units a second, and with 60% on one of them that one alone fills a partition at about 1,670"},
		{name: "a constant", distinct: 1, effective: 1, share: 1, template: "ALL",
			want: detect.DesignCatastrophic, says: "that carries 1,000 write and 3,000 read units a second while the key is in one partition"},
		{name: "settings that all read", distinct: 7_000, effective: 2, share: 0.7, reads: true, template: "<id>",
			want: detect.DesignPoor, says: "it alone may fill a partition at about 4,290 read units a second of all keys together"},
		{name: "tenant#entity", distinct: 80_000, effective: 20_000, share: 0.002, template: "tenant#<id>#order#<id>",
			want: detect.DesignExcellent, says: "80,000 keys"},
		{name: "customer#product#country", distinct: 30_000, effective: 9_000, share: 0.004, template: "<id>#<id>#<word>",
			want: detect.DesignExcellent, says: "30,000 keys"},
		{name: "device#date", distinct: 20_000, effective: 5_000, share: 0.004, template: "device#<id>#<date>",
			want: detect.DesignExcellent, says: "20,000 keys"},
		{name: "seven parts", distinct: 90_000, effective: 50_000, template: "<id>#<id>#<word>#<id>#<word>#<date>#<id>",
			want: detect.DesignGood, says: "has 7 parts: a query must know all of them"},
		{name: "no delimiter", distinct: 90_000, effective: 50_000, template: "user<id>order<id>",
			want: detect.DesignGood, says: "without a delimiter"},
		{name: "a sharded index: 0 to 9, the real key in the sort key", distinct: 10, effective: 9.9, share: 0.105, template: "<number>", index: true,
			want: detect.DesignGood, says: "10 shards, evenly used, carry at most 10,000 write units"},
		{name: "ten numbers in a table, whose keys say what they are", distinct: 10, effective: 9.9, share: 0.105, template: "<number>",
			want: detect.DesignVeryPoor, says: "Only 10 values"},
		{name: "uneven shards", distinct: 8, effective: 5, share: 0.3, template: "OPEN#SHARD_<shard>",
			want: detect.DesignWatch, says: "the fullest has 2.4 times its part"},
		{name: "three tenants so far", distinct: 3, effective: 3, share: 0.35, template: "tenant#<id>",
			want: detect.DesignPoor, says: "Only 3 keys like tenant#<id>: they carry at most 3,000"},
		{name: "fifty devices", distinct: 50, effective: 45, share: 0.03, template: "device#<id>",
			want: detect.DesignWatch, says: "50 keys like device#<id>: they carry at most 50,000"},
		{name: "a hundred documents, of which one has nearly all", distinct: 100, effective: 1.2, share: 0.938, template: "doc#<id>",
			want: detect.DesignPoor, says: "One of some 100 keys like doc#<id> has 93.8% of the write units: with that share it alone fills a partition at about 1,070"},
		{name: "a hundred documents, of which one has two fifths", distinct: 100, effective: 4, share: 0.4, template: "doc#<id>",
			want: detect.DesignWatch, says: "Only 100 keys like doc#<id>"},
		{name: "hardly any traffic", distinct: 1, effective: 1, share: 1, peak: 9, template: "ALL",
			want: detect.DesignUnjudged, says: "at most 9 units in one second, and the policy asks for 10"},
		{name: "a giant of another form", distinct: 2_000, effective: 6, share: 0.4, template: "user#<id>", fits: 0.95, other: "order#7",
			want: detect.DesignWatch, says: "The key “order#7”, beside some 2,000 others, nearly all like user#<id>, has 40% of the write units"},
		{name: "a burst of another form", distinct: 76_000, effective: 240, share: 0.008, burst: 1.88, template: "user#<id>", fits: 0.6, otherHottest: "config",
			want: detect.DesignWatch, says: "76,000 keys (most of them like user#<id>) spread the load over time, but not within seconds: “config” had 188%"},
		{name: "300 shards that are all full", distinct: 300, effective: 300, share: 0.0034, burst: 1.02, peak: 306_000, template: "total#SHARD_<shard>",
			want: detect.DesignWatch, says: "Some 300 keys like total#SHARD_<shard> share the load evenly, and are too few for it"},
		{name: "shards among other keys", distinct: 16, effective: 9, share: 0.1, template: "OPEN#SHARD_<shard>", fits: 0.5,
			want: detect.DesignWatch, says: "Only 16 keys (most of them like OPEN#SHARD_<shard>)"},
		{name: "words among ids", distinct: 200, effective: 9, share: 0.01, template: "<word>", fits: 0.6,
			want: detect.DesignGood, says: "200 keys (most of them like <word>)"},
		{name: "keys that are all unlike", distinct: 400, effective: 400, share: 0.004,
			want: detect.DesignGood, says: "Some 400 keys of no common form"},
		{name: "only scans", want: detect.DesignUnjudged, says: "No request named a partition key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.peak == 0 {
				c.peak = 1000
			}
			if c.fits == 0 {
				c.fits = 1
			}
			got := judgeDesign(traits{
				peakWCU: c.peak, minUnits: detect.MinUnits, distinct: c.distinct, effective: c.effective,
				share: c.share, burst: c.burst, template: c.template, newest: c.newest, reads: c.reads, index: c.index,
				fits: c.fits, other: c.other, otherHottest: c.otherHottest, peers: c.peers,
			})
			if got.Verdict != c.want || !strings.Contains(got.Why, c.says) {
				t.Errorf("%s: %s\nwant %s: … %s …", got.Verdict, got.Why, c.want, c.says)
			}
			if strings.Count(got.Why, ". ") > 0 || !strings.HasSuffix(got.Why, ".") {
				t.Errorf("not one sentence: %s", got.Why)
			}
		})
	}
}
