-- listen: this session hears what is told on the schema's channel.
LISTEN {schema}
