"""What people see of a session: markers, the page, recordings and reports; without ROS."""
