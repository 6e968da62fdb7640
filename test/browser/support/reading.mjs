// A balance script of a provider with a known maximum.
console.log(JSON.stringify({ remaining: 3.5, maximum: 10, resetsAt: '2027-01-01T00:00:00Z' }))
